"""What all rooms stand on: checks of arguments, shown text, words of names, forks."""
