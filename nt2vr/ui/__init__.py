"""The Gradio page: per tab a layout, its handlers and a view of its data; no search or model logic."""
