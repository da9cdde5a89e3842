"""What is known of models from their files alone: sizes, precision, tokenizer, what is at hand."""
