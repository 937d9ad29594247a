// The store of the demonstration, which the commands of the page use too.
let maker = Process()
maker.executableURL = URL(fileURLWithPath: ".build/debug/MakeExampleStore", relativeTo: sources)
maker.arguments = ["Notes.sqlite"]
try maker.run()
maker.waitUntilExit()
