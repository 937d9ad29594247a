// The cost of the parts of the jobs, measured separately. The best of nine passes, in nanoseconds.

try JSONParts.run()
try ObjectParts().run()
