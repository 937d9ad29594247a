import CoreData
import Foundation
import Testing

/// A store in memory does not call the transformers of its transformable attributes: it keeps the values. The tests of SyncKit and
/// PredicateKit depend on that: https://github.com/mentrena/SyncKit/issues/177, https://github.com/ftchirou/PredicateKit
@Suite struct KeptValuesTests {
    private func diary(_ type: String, transformer: String) throws -> Diary {
        let model = NSManagedObjectModel()
        let entity = DiaryModel.entity("Account", NSManagedObject.self)
        let purchases = DiaryModel.attribute("purchases", .transformableAttributeType)
        purchases.valueTransformerName = transformer
        entity.properties = [DiaryModel.attribute("name", .stringAttributeType), purchases]
        model.entities = [entity]
        return try Diary(type, model: model)
    }

    /// PredicateKit names a transformer by its constant, `NSSecureUnarchiveFromDataTransformerName`, which is not its name.
    @Test func valuesWithoutATransformerAreKeptInMemory() throws {
        let diary = try diary(NSInMemoryStoreType, transformer: "NSSecureUnarchiveFromDataTransformerName")
        let context = diary.context()
        try context.performAndWait { () throws in
            for (name, purchases) in [("ada", [35.5, 20]), ("bob", [100])] {
                _ = context.insert("Account", ["name": name, "purchases": purchases])
            }
            try context.save()
            context.reset()
            let accounts = try context.all("Account", sortedBy: "name")
            #expect(accounts.map { $0.value(forKey: "purchases") as? [Double] } == [[35.5, 20], [100]])
            accounts[0].setValue([1.5], forKey: "purchases")
            try context.save()
        }
        let other = diary.context()
        try other.performAndWait { () throws in
            let predicate = NSPredicate(format: "purchases[FIRST] < 50")
            let found = try other.all("Account", predicate)
            #expect(found.map { $0.value(forKey: "purchases") as? [Double] } == [[1.5]])
            #expect(try other.all("Account", NSPredicate(format: "purchases == nil")).isEmpty)
            found.first?.setValue(nil, forKey: "purchases")
            try other.save()
            #expect(try other.all("Account", NSPredicate(format: "purchases == nil")).count == 1)
        }
    }

    @Test func childrenPassValuesOn() throws {
        let diary = try diary(NSInMemoryStoreType, transformer: "NoSuchTransformer")
        let parent = diary.context()
        let child = diary.context(of: parent)
        try child.performAndWait { () throws in
            _ = child.insert("Account", ["name": "ada", "purchases": ["tea"]])
            try child.save()
        }
        try parent.performAndWait { () throws in
            try parent.save()
            parent.reset()
            #expect(try parent.all("Account").map { $0.value(forKey: "purchases") as? [String] } == [["tea"]])
        }
    }
}
