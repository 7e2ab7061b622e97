"""The Gradio page: per tab a layout, handlers and template data. No search or model logic."""
