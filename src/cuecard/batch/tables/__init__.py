"""Tables: the files, sheets and lines that rows are read from, and written to."""
