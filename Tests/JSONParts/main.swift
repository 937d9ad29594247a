// The cost of JSON per byte. The best of nine passes, in nanoseconds.

try JSONParts.run()
