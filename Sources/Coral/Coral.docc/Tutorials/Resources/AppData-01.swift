import Coral

let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("\(UUID().uuidString).sqlite")
try makeAppStore(at: url)

let inspection = try StoreInspection(url: url)
guard let model = inspection.cachedModel else {
    throw CocoaError(.fileReadCorruptFile)
}
for entity in model.entities {
    let names = entity.propertiesByName.keys.sorted()
    print(entity.name ?? "", names)
}
