import Coral
import Testing

/// Small models annotated for other libraries. The libraries' own models and documents are used where they are
/// available.
struct DialectTests {
    private static func relate(
        _ one: NSEntityDescription, _ name: String, isToMany: Bool, _ other: NSEntityDescription, _ back: String,
        isToMany backToMany: Bool, _ userInfo: [String: String] = [:]
    ) {
        let (there, home) = (NSRelationshipDescription(), NSRelationshipDescription())
        for (relationship, name, destination, many) in [(there, name, other, isToMany), (home, back, one, backToMany)] {
            relationship.name = name
            relationship.destinationEntity = destination
            relationship.isOptional = true
            relationship.maxCount = many ? 0 : 1
        }
        (there.inverseRelationship, home.inverseRelationship) = (home, there)
        there.userInfo = userInfo
        one.properties.append(there)
        other.properties.append(home)
    }

    /// People and their pets.
    private func model(
        person: [String: String] = [:], pet: [String: String] = [:], properties: [String: [String: String]] = [:],
        pets: [String: String] = [:]
    ) -> NSManagedObjectModel {
        let people = WebModel.entity(
            "Person",
            [("remoteID", .integer64AttributeType), ("firstName", .stringAttributeType), ("born", .dateAttributeType)])
        let animals = WebModel.entity("Pet", [("name", .stringAttributeType), ("petID", .integer64AttributeType)])
        people.userInfo = person
        animals.userInfo = pet
        for (name, userInfo) in properties {
            (people.attributesByName[name] ?? animals.attributesByName[name])?.userInfo = userInfo
        }
        Self.relate(people, "pets", isToMany: true, animals, "owner", isToMany: false, pets)
        let model = NSManagedObjectModel()
        model.entities = [people, animals]
        return model
    }

    private func take(
        _ json: String, _ entity: String, _ options: ImportOptions, _ context: NSManagedObjectContext
    ) throws -> ImportPlan<NSManagedObject> {
        try context.performAndWait {
            let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: context, options: options).plan(
                .data(Data(json.utf8)), entity: entity)
            try plan.apply()
            try context.save()
            return plan
        }
    }

    private func text(_ exporter: GraphExporter, _ entity: String, _ context: NSManagedObjectContext) throws -> String {
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
            let sink = MemorySink()
            try exporter.export(request, in: context, to: sink)
            return sink.data.text
        }
    }

    @Test func `the directives of this library, read and written`() throws {
        let model = model(
            person: ["coral.identity": "remoteID", "coral.keys": "snake_case"], pet: ["coral.identity": "name"],
            properties: [
                "remoteID": ["coral.key": "meta.id, id"],
                "born": ["coral.dates": "unix", "coral.default": "2001-01-01T00:00:00Z"],
                "name": ["coral.key": "@key"], "petID": ["coral.key": "chip.number"],
            ], pets: ["coral.keyed": "yes", "coral.shape": "embed"])
        #expect(Dialect.coral.mistakes(in: model).isEmpty)
        let context = try makeContext(model)
        let options = try Dialect.coral.importOptions(for: model)
        let json = """
            [{"id": 1, "first_name": "Ann", "born": 1000000000, "pets": {"Rex": {"chip": {"number": 7}}, "Tom": {}}},
             {"meta": {"id": 2}}]
            """
        #expect(try take(json, "Person", options, context).summary == "4 inserts, 0 updates, 1 link, 0 errors")
        #expect(try take(json, "Person", options, context).summary == "0 inserts, 0 updates, 0 links, 0 errors")
        let written = try text(Dialect.coral.exporter(for: model), "Person", context)
        #expect(
            written == """
                [
                {"born":1000000000,"first_name":"Ann","meta":{"id":1},"pets":{"Rex":{"chip":{"number":7}},"Tom":{"chip":{"number":null}}}},
                {"born":978307200,"first_name":null,"meta":{"id":2},"pets":{}}]

                """)
        #expect(try take(written, "Person", options, context).isEmpty)
    }

    @Test func `misspelt directives are found`() throws {
        let model = model(
            person: ["coral.identify": "remoteID"], pet: ["coral.keys": "snake"],
            properties: ["born": ["coral.date": "unix"], "name": ["coral.direction": "in"]])
        #expect(
            Dialect.coral.mistakes(in: model).map { "\($0.entity).\($0.property ?? "") \($0.code.rawValue)" } == [
                "Person. unknownDirective", "Person.born unknownDirective", "Pet. wrongDirective",
                "Pet.name wrongDirective",
            ])
        #expect(throws: MappingError.self) { try Dialect.coral.importOptions(for: model) }
        let groot = self.model(properties: ["born": ["JSONKeypath": "born"]])
        #expect(Dialect.groot.mistakes(in: groot).first?.message.contains("Did you mean \"JSONKeyPath\"?") == true)
        let sync = self.model(properties: ["born": ["sync.remotekey": "b"]])
        #expect(Dialect.sync.mistakes(in: sync).map(\.property) == ["born"])
    }

    @Test func `Groot: only properties with a key path, and keys alone insert objects`() throws {
        let model = model(
            person: ["identityAttribute": "remoteID"], pet: ["identityAttributes": "name, petID"],
            properties: [
                "remoteID": ["JSONKeyPath": "id"], "firstName": ["JSONKeyPath": "name.first"],
                "name": ["JSONKeyPath": "name"], "petID": ["JSONKeyPath": "no"],
            ], pets: ["JSONKeyPath": "animals"])
        let context = try makeContext(model)
        let options = try Dialect.groot.importOptions(for: model)
        let json = """
            [{"id": 1, "name": {"first": "Ann"}, "born": 5, "animals": [{"name": "Rex", "no": 1}, ["Tom", 2], null]},]
            """
        #expect(try take(json, "Person", options, context).summary == "3 inserts, 0 updates, 1 link, 0 errors")
        #expect(try take(json, "Person", options, context).isEmpty)
        let written = try text(Dialect.groot.exporter(for: model), "Person", context)
        #expect(
            written == """
                [
                {"name":{"first":"Ann"},"id":1,"animals":[{"name":"Rex","no":1},{"name":"Tom","no":2}]}]

                """)
    }

    @Test func `Groot: nil is written as null`() throws {
        let model = model(properties: ["remoteID": ["JSONKeyPath": "id"], "firstName": ["JSONKeyPath": "name.first"]])
        let context = try makeContext(model)
        try context.performAndWait {
            context.insert("Person", ["remoteID": 1])
            try context.save()
        }
        let written = try text(Dialect.groot.exporter(for: model), "Person", context)
        #expect(written.contains(#""name":{"first":null}"#), "\(written)")
    }

    @Test func `Sync: an invalid value is omitted and reported, and its record is imported`() throws {
        let model = model(properties: ["petID": ["sync.isPrimaryKey": "YES"]])
        model.entitiesByName["Pet"]?.properties.append(WebModel.attribute("age", .integer16AttributeType))
        let context = try makeContext(model)
        let pets = try Dialect.syncOptions("Pet", in: model)
        _ = try take(#"[{"pet_id": 1, "age": 3}]"#, "Pet", pets, context)
        let plan = try take(#"[{"pet_id": 1, "age": 70000, "name": "Rex"}]"#, "Pet", pets, context)
        #expect(plan.conflicts.count == 1 && plan.errors.isEmpty && plan.updates.count == 1)
        let rex = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Pet"))
        #expect(rex.map { $0.value(forKey: "age") as? Int } == [3])
        #expect(rex.map { $0.value(forKey: "name") as? String } == ["Rex"])
    }

    @Test func `Sync: children without a primary key`() throws {
        let model = model(properties: ["petID": ["sync.isPrimaryKey": "YES"]])
        let context = try makeContext(model)
        let people = try Dialect.syncOptions("Person", in: model)
        let plan = try take(
            #"[{"id": 1, "pets": [{"pet_id": 5}, {"name": "Tom"}]}, {"first_name": "No"}]"#, "Person",
            people, context)
        #expect(plan.inserts.count == 2 && plan.conflicts.count == 2)
        let pets = try Dialect.syncOptions("Pet", in: model)
        let second = try take(#"[{"pet_id": 5, "owner": {"first_name": "Ann"}}]"#, "Pet", pets, context)
        #expect(second.summary == "0 inserts, 1 update, 0 links, 0 errors", "The owner of the pet is updated.")
        let third = try take(
            #"[{"pet_id": 5}, {"pet_id": 6, "owner": {"first_name": "Bob"}}]"#, "Pet", pets, context)
        #expect(third.inserts.count == 2, "A pet without an owner gets a new one.")
    }

    @Test func `Sync: conventions, keys in lists, and deletion of absent objects`() throws {
        let model = model(properties: ["petID": ["sync.isPrimaryKey": "YES"], "born": ["sync.nonExportable": "YES"]])
        let context = try makeContext(model)
        let people = try Dialect.syncOptions("Person", in: model)
        #expect(
            try take(
                #"[{"id": 1, "first_name": "Ann", "pets": [{"pet_id": 5}, {"pet_id": 6}]}, {"id": 2}]"#, "Person",
                people, context
            ).inserts.count == 4)
        let second = try take(
            #"[{"id": 1, "firstName": "Anna", "born": "2001-01-02", "pets": [{"pet_id": 6}]}]"#, "Person", people,
            context)
        #expect(second.deletions.kept.map(\.reason).contains(.scope) && second.deletions.count == 2)
        let third = try take(#"[{"id": 1, "pets_ids": [6, 99]}]"#, "Person", people, context)
        #expect(third.isEmpty, "A key that nothing has is passed over.")
        let written = try text(Dialect.sync.exporter(for: model), "Person", context)
        #expect(
            written == """
                [
                {"first_name":"Anna","id":1,"pets":[{"name":null,"pet_id":6}]}]

                """)
    }

    @Test func `MagicalImport: fallback keys, date formats, and objects found by an attribute`() throws {
        let model = model(
            properties: [
                "firstName": ["mappedKeyName": "given", "mappedKeyName.1": "names.first"],
                "born": ["dateFormat": "d.M.yyyy"],
            ], pets: ["relatedByAttribute": "name"])
        let context = try makeContext(model)
        let options = try Dialect.magicalImport.importOptions(for: model)
        let json = #"{"names": {"first": "Ann"}, "born": "3.1.2001", "pets": [{"name": "Rex"}]}"#
        #expect(try take(json, "Person", options, context).inserts.count == 2)
        let again = try take(#"{"given": "Bo", "pets": ["Rex", "Tom"]}"#, "Person", options, context)
        #expect(again.inserts.count == 1, "Rex is found by name, Tom is not found.")
        let person = try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first {
                $0.value(forKey: "born") != nil
            }
        }
        #expect(person?.value(forKey: "born") as? Date == Date(timeIntervalSinceReferenceDate: 172_800))
        #expect(person?.value(forKey: "firstName") as? String == "Ann")
    }
}
