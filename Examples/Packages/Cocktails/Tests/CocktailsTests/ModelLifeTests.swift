import Foundation
import SwiftData
import XCTest

/// What a model is after it was deleted, rolled back, inserted again, released, and changed from elsewhere.
final class ModelLifeTests: StoreTestCase {
    private final class Count: @unchecked Sendable {  // because one thread uses it
        var value = 0
    }

    override func makeContainer() throws -> ModelContainer {
        try ModelContainer(
            for: Dog.self, Order.self,
            configurations: ModelConfiguration(url: folder.appendingPathComponent("animals.store")))
    }

    func testAModelThatIsInsertedAgainIsSavedWithItsChanges() throws {
        let keeper = Keeper(name: "a")
        context.insert(keeper)
        context.delete(keeper)
        context.insert(keeper)
        keeper.name = "b"
        XCTAssertEqual(keeper.name, "b")
        XCTAssertFalse(keeper.isDeleted)
        try context.save()
        context.delete(keeper)
        try context.save()
        XCTAssertTrue(keeper.isDeleted)
        context.insert(keeper)
        keeper.name = "c"
        XCTAssertFalse(keeper.isDeleted)
        try context.save()
        XCTAssertEqual(try ModelContext(container).fetch(FetchDescriptor<Keeper>()).map(\.name), ["c"])
    }

    /// A relationship that is not optional has a value at all times.
    func testARequiredModelIsReadAfterARollbackAndADeletion() throws {
        let keeper = Keeper(name: "ann")
        context.insert(keeper)
        try context.save()
        let order = Order(text: "hay", keeper: keeper)
        context.insert(order)
        context.rollback()
        XCTAssertNil(order.modelContext)
        XCTAssertEqual(order.keeper.name, "ann")
        context.insert(order)
        try context.save()
        XCTAssertEqual(try ModelContext(container).fetch(FetchDescriptor<Order>())[0].keeper.name, "ann")
        context.delete(order)
        try context.save()
        XCTAssertTrue(order.isDeleted)
        XCTAssertEqual(order.keeper.name, "ann")
    }

    /// The engine changes the other end of a relationship before the program changes the model.
    func testAChangedModelKeepsItsTransientValuesUntilItIsSaved() throws {
        context.insert(Dog(name: "rex", tricks: 1))
        context.insert(Keeper(name: "ann"))
        try context.save()
        let context = ModelContext(container)
        func change() throws {
            let keeper = try context.fetch(FetchDescriptor<Keeper>())[0]
            try context.fetch(FetchDescriptor<Dog>())[0].keeper = keeper
            keeper.cache = 5
            keeper.score = 3
        }
        try change()
        let keeper = try context.fetch(FetchDescriptor<Keeper>())[0]
        XCTAssertEqual(keeper.score, 3)
        XCTAssertEqual(keeper.cache, 5)
    }

    /// One registrar informs of the properties of all classes of an object.
    func testInheritedPropertiesAreObserved() throws {
        let (dog, keeper) = (Dog(name: "rex", tricks: 1), Keeper(name: "ann"))
        context.insert(dog)
        context.insert(keeper)
        try context.save()
        let count = Count()
        func observe<Value>(_ keyPath: KeyPath<Dog, Value>) {
            withObservationTracking {
                _ = dog[keyPath: keyPath]
            } onChange: {
                count.value += 1
            }
        }
        observe(\.keeper)
        keeper.animals.append(dog)
        XCTAssertEqual(count.value, 1, "the inverse")
        try context.save()
        observe(\.name)
        dog.name = "max"
        XCTAssertEqual(count.value, 2, "the accessor")
        observe(\.name)
        context.rollback()
        XCTAssertEqual(count.value, 3, "a rollback")
        observe(\.tricks)
        dog.tricks = 7
        XCTAssertEqual(count.value, 4, "a property of the subclass")
        try context.save()
        observe(\.name)
        let other = ModelContext(container)
        try XCTUnwrap(other.model(for: dog.persistentModelID) as? Dog).name = "zed"
        try other.save()
        _ = try context.fetchCount(FetchDescriptor<Dog>())
        XCTAssertEqual(count.value, 5, "a merge")
    }

    func testAnOrderThatIsSetLaterMayReadRelatedModels() throws {
        let keepers = [Keeper(name: "x"), Keeper(name: "y")]
        for (name, keeper) in zip(["a", "b"], keepers) {
            let dog = Dog(name: name, tricks: 1)
            dog.keeper = keeper
            context.insert(dog)
        }
        try context.save()
        let observer = try ResultsObserver<Dog, Never>(modelContext: context)
        observer.sortBy = [SortDescriptor(\.keeper?.name)]
        XCTAssertEqual(observer.results.map(\.name), ["a", "b"])
        keepers[0].name = "z"
        XCTAssertEqual(observer.results.map(\.name), ["b", "a"])
    }
}
