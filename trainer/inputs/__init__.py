"""What losses need in a batch besides captions and videos."""
