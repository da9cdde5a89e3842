"""One folder a page, with all that is its own: Python, JavaScript and CSS of its parts."""
