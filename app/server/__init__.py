"""FastAPI around Gradio: guards, login, uploads, exports, and the shell in which every page stands."""
