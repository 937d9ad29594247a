import CoreData
import Foundation
import SwiftData
import XCTest

@testable import Cocktails

@Model
class Trip {
    var name: String
    @Attribute(.preserveValueOnDeletion) var code: Int = 0
    init(name: String) { self.name = name }
}

@Model
final class BusinessTrip: Trip {
    var purpose: String
    var cost: Double?
    init(name: String, purpose: String) {
        self.purpose = purpose
        super.init(name: name)
    }
}

@Model
final class Chain {
    var number: Int
    var next: Chain?
    init(number: Int, next: Chain? = nil) {
        self.number = number
        self.next = next
    }
}

final class ContextTests: XCTestCase {
    private var folder: URL!
    private var container: ModelContainer!

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        container = try ModelContainer(
            for: BusinessTrip.self, Chain.self,
            configurations: ModelConfiguration(url: folder.appendingPathComponent("trips.store")))
    }

    override func tearDown() {
        container = nil
        try? FileManager.default.removeItem(at: folder)
    }

    func testSubclassesAreStoredAndFetchedWithTheirSuperclass() throws {
        let context = ModelContext(container)
        let business = BusinessTrip(name: "Rome", purpose: "fair")
        XCTAssertEqual(business.name, "Rome")
        XCTAssertEqual(business.purpose, "fair")
        context.insert(business)
        context.insert(Trip(name: "Oslo"))
        try context.save()
        let fresh = ModelContext(container)
        let all = try fresh.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
        XCTAssertEqual(all.map(\.name), ["Oslo", "Rome"])
        XCTAssertEqual((all[1] as? BusinessTrip)?.purpose, "fair")
        let fairs = try fresh.fetch(
            FetchDescriptor<BusinessTrip>(predicate: #Predicate { $0.purpose == "fair" && $0.name == "Rome" }))
        XCTAssertEqual(fairs.count, 1)
        XCTAssertTrue(fairs.first === all[1])
        XCTAssertEqual(try fresh.fetchCount(FetchDescriptor<Trip>(predicate: #Predicate { $0 is BusinessTrip })), 1)
    }

    /// Published packages find the engine's ID in this way, because Apple's framework has no other.
    func testTheEngineIDIsFoundByReflection() throws {
        let context = ModelContext(container)
        let trip = Trip(name: "Rome")
        context.insert(trip)
        try context.save()
        let parts = Mirror(reflecting: trip.persistentModelID).children.first { $0.label == "implementation" }
        let implementation = Mirror(reflecting: try XCTUnwrap(parts).value)
        XCTAssertEqual(implementation.descendant("isTemporary") as? Bool, false)
        let id = try XCTUnwrap(implementation.descendant("managedObjectID") as? NSManagedObjectID)
        XCTAssertEqual(id.uriRepresentation().host, trip.persistentModelID.storeIdentifier)
        XCTAssertEqual(id.entity.name, "Trip")
    }

    func testTheHistoryHasTypedChanges() throws {
        let context = ModelContext(container)
        context.author = "test"
        let trip = Trip(name: "Rome")
        trip.code = 7
        context.insert(trip)
        try context.save()
        let token = try XCTUnwrap(context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last).token
        trip.name = "Roma"
        try context.save()
        context.delete(trip)
        try context.save()
        let later = try context.fetchHistory(
            HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token }))
        XCTAssertEqual(later.count, 2)
        XCTAssertEqual(later.map(\.author), ["test", "test"])
        guard case .update(let update as DefaultHistoryUpdate<Trip>)? = later.first?.changes.first else {
            return XCTFail("The first change is not an update of a trip.")
        }
        XCTAssertEqual(update.updatedAttributes.map { $0 as AnyKeyPath }, [\Trip.name])
        guard case .delete(let deletion as DefaultHistoryDelete<Trip>)? = later.last?.changes.first else {
            return XCTFail("The last change is not a deletion of a trip.")
        }
        XCTAssertEqual(deletion.tombstone[\.code] as? Int, 7)
        XCTAssertNil(deletion.tombstone[\.name])
        try context.deleteHistory(
            HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token <= token }))
        XCTAssertEqual(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count, 2)
    }

    func testIdentifiersAreCodedAsApplesFramework() throws {
        let context = ModelContext(container)
        let trip = Trip(name: "Rome")
        context.insert(trip)
        XCTAssertNil(trip.persistentModelID.storeIdentifier)
        try context.save()
        let id = trip.persistentModelID
        XCTAssertEqual(id.entityName, "Trip")
        let data = try JSONEncoder().encode(id)
        let object = try XCTUnwrap(JSONSerialization.jsonObject(with: data) as? [String: [String: Any]])
        XCTAssertEqual(object["implementation"]?["primaryKey"] as? String, "p1")
        XCTAssertEqual(object["implementation"]?["isTemporary"] as? Bool, false)
        let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
        XCTAssertEqual(decoded, id)
        XCTAssertEqual(Set([decoded, id, id]).count, 1, "Equal identifiers have one hash.")
        XCTAssertEqual(decoded.id, id.id)
        XCTAssertEqual(try JSONDecoder().decode(PersistentIdentifier.ID.self, from: JSONEncoder().encode(id.id)), id.id)
        let found = ModelContext(container).model(for: decoded) as? Trip
        XCTAssertEqual(found?.name, "Rome")
        let registered: Trip? = context.registeredModel(for: decoded)
        XCTAssertTrue(registered === trip)
    }

    func testTemporaryIdentifiersEqualTheirCodedForms() throws {
        let context = ModelContext(container)
        let trips = (0..<20).map { Trip(name: "\($0)") }
        for trip in trips.prefix(10) { context.insert(trip) }
        let identifiers = trips.map(\.persistentModelID)
        let decoded = try JSONDecoder().decode([PersistentIdentifier].self, from: JSONEncoder().encode(identifiers))
        XCTAssertEqual(decoded, identifiers)
        XCTAssertEqual(Set(decoded).union(identifiers).count, 20)
        try context.save()
        XCTAssertTrue(Set(identifiers).isDisjoint(with: trips.prefix(10).map(\.persistentModelID)))
        XCTAssertEqual(Set(identifiers).intersection(trips.suffix(10).map(\.persistentModelID)).count, 10)
    }

    func testInsertionChangesNoValue() throws {
        let context = ModelContext(container)
        let trip = Trip(name: "Rome")
        nonisolated(unsafe) var changes = 0
        withObservationTracking {
            _ = trip.name
        } onChange: {
            changes += 1
        }
        context.insert(trip)
        XCTAssertEqual(trip.name, "Rome")
        XCTAssertEqual(changes, 0, "Observation is informed of changes.")
        trip.name = "Oslo"
        XCTAssertEqual(changes, 1)
    }

    func testDeleteByPredicateWaitsForTheSave() throws {
        let context = ModelContext(container)
        for number in 0..<5 { context.insert(Chain(number: number)) }
        try context.save()
        try context.delete(model: Chain.self, where: #Predicate { $0.number > 2 })
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Chain>()), 5)
        context.rollback()
        XCTAssertEqual(try context.fetchCount(FetchDescriptor<Chain>()), 5)
        try context.delete(model: Chain.self)
        try context.save()
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Chain>()), 0)
    }

    func testADeepGraphIsInserted() throws {
        let context = ModelContext(container)
        var last = Chain(number: 0)
        for number in 1..<3_000 { last = Chain(number: number, next: last) }
        context.insert(last)
        try context.save()
        XCTAssertEqual(try context.fetchCount(FetchDescriptor<Chain>()), 3_000)
        let end = try XCTUnwrap(
            ModelContext(container).fetch(FetchDescriptor<Chain>(predicate: #Predicate { $0.number == 2_999 })).first)
        XCTAssertEqual(end.next?.next?.number, 2_997)
    }

    func testEnumerateRefusesEscapingMutations() throws {
        let context = ModelContext(container)
        for number in 0..<5 { context.insert(Chain(number: number)) }
        try context.save()
        var numbers: [Int] = []
        try context.enumerate(FetchDescriptor<Chain>(sortBy: [SortDescriptor(\.number)]), batchSize: 2) {
            numbers.append($0.number)
        }
        XCTAssertEqual(numbers, [0, 1, 2, 3, 4])
        XCTAssertThrowsError(try context.enumerate(FetchDescriptor<Chain>()) { $0.number += 1 })
    }

    func testAContextSeesWhatAnotherHasSaved() throws {
        let (one, other) = (ModelContext(container!), ModelContext(container!))
        let chain = Chain(number: 1)
        one.insert(chain)
        try one.save()
        let twin = try XCTUnwrap(other.fetch(FetchDescriptor<Chain>()).first)
        XCTAssertEqual(twin.number, 1)
        nonisolated(unsafe) var changes = 0
        withObservationTracking {
            _ = twin.number
        } onChange: {
            changes += 1
        }
        chain.number = 2
        try one.save()
        XCTAssertEqual(try other.fetch(FetchDescriptor<Chain>()).first?.number, 2)
        XCTAssertEqual(changes, 1, "Observation sees a change that was merged.")
    }

    func testAModelThatAnotherContextDeletedKeepsItsValues() throws {
        let (one, other) = (ModelContext(container!), ModelContext(container!))
        let chain = Chain(number: 7)
        one.insert(chain)
        try one.save()
        let twin = try XCTUnwrap(other.fetch(FetchDescriptor<Chain>()).first)
        XCTAssertEqual(twin.number, 7)
        one.delete(chain)
        try one.save()
        XCTAssertEqual(try other.fetch(FetchDescriptor<Chain>()).count, 0)
        XCTAssertTrue(twin.isDeleted)
        XCTAssertNil(twin.modelContext)
        XCTAssertEqual(twin.number, 7)
    }

    func testTheListsOfChangesFollowTheirModels() throws {
        let context = ModelContext(container)
        let chain = Chain(number: 1)
        context.insert(chain)
        try context.save()
        XCTAssertFalse(chain.hasChanges)
        chain.number = 2
        XCTAssertTrue(chain.hasChanges)
        XCTAssertEqual(context.changedModelsArray.count, 1)
        context.delete(chain)
        XCTAssertEqual(context.deletedModelsArray.count, 1)
        context.rollback()
        XCTAssertEqual(chain.number, 1)
        XCTAssertFalse(chain.isDeleted)
    }

    func testATransactionIsAllOrNothing() throws {
        struct Stop: Error {}
        let context = ModelContext(container)
        XCTAssertThrowsError(
            try context.transaction {
                context.insert(Chain(number: 1))
                throw Stop()
            })
        XCTAssertFalse(context.hasChanges)
        try context.transaction { context.insert(Chain(number: 1)) }
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Chain>()), 1)
    }

    func testContainersInMemoryAreSeparate() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        let (one, other) = (
            try ModelContainer(for: Chain.self, configurations: configuration),
            try ModelContainer(for: Chain.self, configurations: configuration)
        )
        let context = ModelContext(one)
        context.insert(Chain(number: 1))
        try context.save()
        XCTAssertEqual(try ModelContext(one).fetchCount(FetchDescriptor<Chain>()), 1)
        XCTAssertEqual(try ModelContext(other).fetchCount(FetchDescriptor<Chain>()), 0)
    }

    @MainActor
    func testTheMainContextSavesByItself() async throws {
        let context = container.mainContext
        XCTAssertTrue(context.autosaveEnabled)
        context.insert(Chain(number: 1))
        for _ in 0..<100 where context.hasChanges { try await Task.sleep(for: .milliseconds(5)) }
        XCTAssertFalse(context.hasChanges)
    }
}
