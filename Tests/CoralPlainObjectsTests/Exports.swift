// The contexts are visible in all files of these tests.

@_exported import NotesContexts
