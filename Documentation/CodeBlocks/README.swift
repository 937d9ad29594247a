// Notes of another store, whose model has Groot's directives.
let model = makeModel()
let noteEntity = model.entitiesByName["Note"]
noteEntity?.userInfo = ["identityAttributes": "title"]
noteEntity?.attributesByName["title"]?.userInfo = ["JSONKeyPath": "name"]
let context = makeContainer(at: folder.appendingPathComponent("Cards.sqlite"), model).viewContext
let received = Data(#"[{"name": "Shopping"}, {"name": "Garden"}]"#.utf8)
// The authors and tags to which the notes refer exist there, too.
try context.importObjects(from: Data(#"{"Person": [{"name": "Ada"}], "Tag": [{"name": "home"}, {"name": "work"}]}"#.utf8))
