import Foundation
import Testing

import class ManagedObjects.NSFetchRequest
import class FoundationAdditions.NSPredicate

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// Predicates larger than the limits of one statement: they return the correct results or throw an error with the reason.
@Suite("A large predicate") struct LargePredicateTests {
    private let stack: TestStack
    private let context: NSManagedObjectContext

    init() throws {
        stack = try TestStack()
        context = stack.context()
        var folder: NSManagedObject?
        for number in 0..<80 {
            let next = context.insert("Folder", ["name": "folder \(number)"])
            next.setValue(folder, forKey: "parent")
            folder = next
        }
        // Each of ten items has each of ten tags.
        let tags = (0..<10).map { context.insert("Tag", ["name": "tag \($0)"]) }
        for _ in 0..<10 { context.insert("Item").setValue(NSSet(array: tags), forKey: "tags") }
        try context.save()
    }

    private func names(_ entity: String, _ format: String) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format)
        return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
    }

    @Test func `five thousand alternatives and conditions`() throws {
        let alternatives = (10..<5010).map { "name == 'folder \($0)'" }.joined(separator: " OR ")
        #expect(try names("Folder", alternatives).count == 70)
        let conditions = (10..<5010).map { "name != 'folder \($0)'" }.joined(separator: " AND ")
        #expect(try names("Folder", conditions).count == 10)
        #expect(try names("Folder", "NOT (\(alternatives))").count == 10)
    }

    private func path(_ keys: String..., times: Int) -> String {
        Array(repeating: keys.joined(separator: "."), count: times).joined(separator: ".")
    }

    @Test("long paths of to-one relationships", arguments: [40, 70])
    func toOne(count: Int) throws {
        #expect(try names("Folder", "\(path("parent", times: count)).name == 'folder 3'") == ["folder \(count + 3)"])
    }

    @Test func `paths of to-many relationships with too many values are an error`() throws {
        #expect(try names("Tag", "ANY \(path("items", "tags", times: 2)).name == 'tag 3'").count == 10)
        let error = #expect(throws: CocoaError.self) {
            try names("Tag", "ANY \(path("items", "tags", times: 20)).name == 'none'")
        }
        #expect(error?.localizedDescription.contains("more than 2000000 values") == true, "\(error as Any)")
    }

    @Test func `a regular expression that exceeds its limit is an error in a store too`() throws {
        _ = context.insert("Tag", ["name": String(repeating: "a", count: 60) + "b"])
        try context.save()
        let error = #expect(throws: CocoaError.self) { try names("Tag", "name MATCHES '(a+)+'") }
        #expect(error?.localizedDescription.contains("MATCHES was stopped") == true, "\(error as Any)")
    }
}
