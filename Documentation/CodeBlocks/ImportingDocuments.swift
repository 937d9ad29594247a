// Documents are imported into an empty store.
let container = makeContainer(at: storeURL)
let context = container.viewContext
let json = Data(documents[0].utf8)
let later = Data(#"{"items": [{"name": "Milk"}, {"name": "Butter"}]}"#.utf8)
let dictionary: [String: Any] = ["title": "Groceries", "items": [["name": "Milk"], ["name": "Bread"]]]
let documentURL = folder.appendingPathComponent("notes.json")
try Data(#"{"Note": \#(documents[0])}"#.utf8).write(to: documentURL)
