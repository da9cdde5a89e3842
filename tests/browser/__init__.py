"""The pages, in a real chromium, against a real dashboard and a real worker."""
