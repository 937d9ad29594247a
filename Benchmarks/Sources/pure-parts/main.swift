// The cost of the parts of the jobs, measured separately. The best of nine passes, in nanoseconds.

try ObjectParts().run()
