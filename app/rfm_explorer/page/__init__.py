"""One session's page, part by part."""
