// What the parts cost that every job is made of, by themselves. The best of nine passes, in nanoseconds.

try JSONParts.run()
try ObjectParts().run()
