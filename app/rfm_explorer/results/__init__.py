"""Results as plain records, and as files between processes."""
