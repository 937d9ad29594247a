import Coral
import CoralTesting
import Testing

/// Graphs are compared by their objects' values, not by descriptions.
struct IsomorphismValueTests {
    private func model() -> NSManagedObjectModel {
        let entity = WebModel.entity("Thing", [("value", .transformableAttributeType)])
        entity.attributesByName["value"]?.isTransient = false
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private func contents(_ value: Any) throws -> ObjectContents {
        let context = try makeContext(model())
        return context.performAndWait { ObjectContents(context.insert("Thing", ["value": value])) }
    }

    @Test func `dictionaries and sets are equal if their elements are`() throws {
        let keys = (0..<40).map { "key \($0)" }
        var (one, two): ([String: Any], [String: Any]) = ([:], [:])
        for key in keys { one[key] = [key, 1] }
        two.reserveCapacity(4000)
        for key in keys.reversed() { two[key] = [key, 1] }
        #expect(try contents(one) == contents(two))
        #expect(try contents(one).description == contents(two).description)
        two["key 3"] = ["key 3", 2]
        #expect(try contents(one) != contents(two))
        let set = NSMutableSet()
        for key in keys.reversed() { set.add(key) }
        #expect(try contents(NSSet(array: keys)) == contents(set))
        #expect(try contents(Set(keys)) == contents(set))
        set.remove("key 7")
        #expect(try contents(NSSet(array: keys)) != contents(set))
    }

    @Test func `strings differ from values with the same description`() throws {
        #expect(try contents(["a, b"]) != contents(["a", "b"]))
        #expect(try contents(["1"]) != contents([1]))
        #expect(try contents([["a"], ["b"]]) != contents([["a", "b"]]))
    }

    @Test func `graphs with sets are isomorphic`() throws {
        let context = try makeContext(model())
        context.performAndWait {
            func things(_ keys: [String]) -> [NSManagedObject] {
                [context.insert("Thing", ["value": NSSet(array: keys)]), context.insert("Thing")]
            }
            let names = (0..<30).map { "name \($0)" }
            #expect(GraphIsomorphism(things(names), things(names.reversed())).areIsomorphic)
            #expect(!GraphIsomorphism(things(names), things(names.dropLast())).areIsomorphic)
        }
    }
}
