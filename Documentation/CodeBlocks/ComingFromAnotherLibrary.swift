// The model has the directives of the libraries.
let model = makeModel()
let noteEntity = model.entitiesByName["Note"]
noteEntity?.userInfo = ["identityAttributes": "title", "relatedByAttribute": "title"]
noteEntity?.attributesByName["title"]?.userInfo = ["JSONKeyPath": "title", "sync.isPrimaryKey": "true"]
let container = filled(makeContainer(at: storeURL, model))
let context = container.viewContext
let note = fetched(in: context)[1]
let json = Data(#"[{"title": "Shopping"}, {"title": "Garden"}]"#.utf8)
let dictionary: [String: Any] = ["title": "Shopping"]
