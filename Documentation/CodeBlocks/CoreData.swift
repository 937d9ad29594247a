// The store that the page opens has notes.
_ = filled(makeContainer(at: NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Notes.sqlite")))
