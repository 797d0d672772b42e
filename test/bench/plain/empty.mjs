// An empty module: the cost of any import.
