"""What is around the pages of a server: launcher, admission, headers, log, gallery."""
