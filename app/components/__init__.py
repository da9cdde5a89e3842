"""The parts that pages are made of: gr.HTML with a constant template, each with its own escaping."""
