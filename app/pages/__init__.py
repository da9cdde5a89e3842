"""One folder a page, with all that is its own: page.py lays it out, the rest are its parts; Python, JavaScript, CSS."""
