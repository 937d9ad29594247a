import Foundation
import SwiftData
import XCTest

@testable import Cocktails

@Model
class Journey {
    var name: String
    var days = 1
    @Attribute(.preserveValueOnDeletion) var code = 0
    @Attribute(.preserveValueOnDeletion) var country: String?
    @Relationship(deleteRule: .cascade, inverse: \Stop.journey) var stops: [Stop] = []
    init(name: String) { self.name = name }
}

@Model
final class WorkJourney: Journey {
    var purpose = ""
    override init(name: String) { super.init(name: name) }
}

@Model
final class Stop {
    var name: String
    var journey: Journey?
    init(name: String) { self.name = name }
}

@ModelActor
private actor JourneyArchive {
    func name(of id: PersistentIdentifier) -> String? { self[id, as: Journey.self]?.name }
    func isStop(_ id: PersistentIdentifier) -> Bool { self[id, as: Stop.self] != nil }
    func names(_ descriptor: FetchDescriptor<Journey>) throws -> [String] {
        try modelContext.fetch(descriptor).map(\.name)
    }
}

/// What Apple's documentation states of contexts, histories, inheritance and actors; each test names the page, below
/// https://developer.apple.com/documentation/swiftdata.
final class DocumentedContextTests: StoreTestCase {
    override func makeContainer() throws -> ModelContainer {
        try ModelContainer(
            for: WorkJourney.self,
            configurations: ModelConfiguration(url: folder.appendingPathComponent("journeys.store")))
    }

    private func insert(_ names: String...) throws {
        for name in names { context.insert(Journey(name: name)) }
        try context.save()
    }

    private func names(_ descriptor: FetchDescriptor<Journey> = FetchDescriptor()) throws -> [String] {
        try ModelContext(container).fetch(descriptor).map(\.name).sorted()
    }

    // MARK: - Inserting and deleting

    /// modelcontext
    func testARootIsInsertedWithNewAndExistingModels() throws {
        let known = Stop(name: "Rome")
        context.insert(known)
        try context.save()
        let journey = Journey(name: "Italy")
        journey.stops = [known, Stop(name: "Bari")]
        context.insert(journey)
        XCTAssertEqual(context.insertedModelsArray.count, 2)
        try context.save()
        let same = try XCTUnwrap(ModelContext(container).fetch(FetchDescriptor<Journey>()).first)
        XCTAssertEqual(same.stops.map(\.name).sorted(), ["Bari", "Rome"])
        XCTAssertEqual(try context.fetchCount(FetchDescriptor<Stop>()), 2)
    }

    /// modelcontext/insert(_:): a rollback before the first save discards the model.
    func testARollbackDiscardsAnInsertedModelAndRestoresTheOthers() throws {
        try insert("Italy", "Spain")
        let all = try context.fetch(FetchDescriptor<Journey>(sortBy: [SortDescriptor(\.name)]))
        let new = Journey(name: "Chad")
        context.insert(new)
        all[0].name = "Italia"
        context.delete(all[1])
        context.rollback()
        XCTAssertFalse(context.hasChanges)
        XCTAssertNil(new.modelContext)
        XCTAssertEqual(all.map(\.name), ["Italy", "Spain"])
        XCTAssertFalse(all[1].isDeleted)
        try context.save()
        XCTAssertEqual(try names(), ["Italy", "Spain"])
    }

    /// modelcontext/delete(model:where:includesubclasses:), deleting-persistent-data-from-your-app
    func testADeletionByClassMayLeaveSubclassesAndFollowsTheRules() throws {
        let journey = Journey(name: "Italy")
        journey.stops = [Stop(name: "Rome")]
        context.insert(journey)
        context.insert(WorkJourney(name: "Fair"))
        try context.save()
        try context.delete(model: Journey.self, includeSubclasses: false)
        try context.save()
        XCTAssertEqual(try names(), ["Fair"])
        XCTAssertEqual(try ModelContext(container).fetchCount(FetchDescriptor<Stop>()), 0, "The rule is cascade.")
        try context.delete(model: Journey.self)
        try context.save()
        XCTAssertEqual(try names(), [])
    }

    // MARK: - Saving

    /// modelcontext/autosaveenabled
    @MainActor func testOnlyTheMainContextSavesByItself() throws {
        XCTAssertTrue(container.mainContext.autosaveEnabled)
        XCTAssertTrue(container.mainContext === container.mainContext)
        XCTAssertFalse(ModelContext(container).autosaveEnabled)
        context.insert(Journey(name: "Italy"))
        context.processPendingChanges()
        XCTAssertEqual(try names(), [])
        context.autosaveEnabled = true
        context.processPendingChanges()
        XCTAssertEqual(try names(), ["Italy"])
    }

    /// modelcontext/transaction(block:)
    func testATransactionWritesWhatIsPending() throws {
        context.insert(Journey(name: "Italy"))
        try context.transaction { context.insert(Journey(name: "Spain")) }
        XCTAssertFalse(context.hasChanges)
        XCTAssertEqual(try names(), ["Italy", "Spain"])
    }

    /// modelcontext/undomanager
    func testThereIsNoUndoManagerAtFirst() {
        XCTAssertNil(context.undoManager)
    }

    // MARK: - Fetching

    /// fetchdescriptor
    func testADescriptorDecidesOnUnsavedChanges() throws {
        try insert("Italy")
        let journey = try XCTUnwrap(context.fetch(FetchDescriptor<Journey>()).first)
        context.insert(Journey(name: "Spain"))
        journey.days = 9
        var descriptor = FetchDescriptor<Journey>(predicate: #Predicate { $0.days < 5 })
        XCTAssertNil(FetchDescriptor<Journey>().predicate)
        XCTAssertTrue(descriptor.includePendingChanges)
        XCTAssertEqual(try context.fetch(descriptor).map(\.name), ["Spain"])
        descriptor.includePendingChanges = false
        XCTAssertEqual(try context.fetch(descriptor).map(\.name), ["Italy"])
        XCTAssertEqual(try context.fetchCount(descriptor), 1)
    }

    /// fetchdescriptor/propertiestofetch, fetchdescriptor/relationshipkeypathsforprefetching
    func testPropertiesAndRelationshipsMayBeLoadedWithTheModels() throws {
        let journey = Journey(name: "Italy")
        journey.days = 4
        journey.stops = [Stop(name: "Rome")]
        context.insert(journey)
        try context.save()
        var descriptor = FetchDescriptor<Journey>()
        descriptor.propertiesToFetch = [\.name]
        descriptor.relationshipKeyPathsForPrefetching = [\.stops]
        let same = try XCTUnwrap(ModelContext(container).fetch(descriptor).first)
        XCTAssertEqual(same.name, "Italy")
        XCTAssertEqual(same.days, 4, "It is loaded when it is read.")
        XCTAssertEqual(same.stops.map(\.name), ["Rome"])
    }

    /// modelcontext/enumerate(_:batchsize:allowescapingmutations:block:)
    func testEnumerateMayChangeModelsIfThisIsAllowed() throws {
        try insert("a", "b", "c")
        try context.enumerate(FetchDescriptor<Journey>(), batchSize: 2, allowEscapingMutations: true) { $0.days = 3 }
        try context.save()
        XCTAssertEqual(
            try ModelContext(container).fetchCount(FetchDescriptor<Journey>(predicate: #Predicate { $0.days == 3 })), 3)
    }

    /// modelcontext/model(for:), modelcontext/registeredmodel(for:)
    func testAKnownModelIsFoundByItsIdentifier() throws {
        try insert("Italy")
        let journey = try XCTUnwrap(context.fetch(FetchDescriptor<Journey>()).first)
        let id = journey.persistentModelID
        XCTAssertTrue(context.model(for: id) === journey)
        let registered: Journey? = context.registeredModel(for: id)
        XCTAssertTrue(registered === journey)
        let stop: Stop? = context.registeredModel(for: id)
        XCTAssertNil(stop)
    }

    /// modelcontext/fetch(_:batchsize:)
    func testACollectionOfBatchesIsReadAtAnyPosition() throws {
        try insert("a", "b", "c", "d", "e")
        let batches = try context.fetch(
            FetchDescriptor<Journey>(sortBy: [SortDescriptor(\.name)]), batchSize: 2)
        XCTAssertEqual(batches[4].name, "e")
        XCTAssertEqual(batches[1].name, "b")
        XCTAssertEqual(batches.reversed().map(\.name), ["e", "d", "c", "b", "a"])
        XCTAssertEqual(batches.dropFirst(3).map(\.name), ["d", "e"])
        XCTAssertEqual(batches.firstIndex { $0.name == "c" }, 2)
    }

    // MARK: - History: fetching-and-filtering-time-based-model-changes

    private typealias Transactions = HistoryDescriptor<DefaultHistoryTransaction>

    func testTransactionsAreInTheirOrderAndSelectedByAuthor() throws {
        for (author, name) in [("ann", "a"), ("bob", "b"), ("ann", "c")] {
            context.author = author
            try insert(name)
        }
        let all = try context.fetchHistory(Transactions())
        XCTAssertEqual(all.map(\.author), ["ann", "bob", "ann"])
        XCTAssertEqual(all.map(\.token), all.map(\.token).sorted())
        XCTAssertEqual(all.map(\.timestamp), all.map(\.timestamp).sorted())
        let ann = try context.fetchHistory(Transactions(predicate: #Predicate { $0.author == "ann" }))
        XCTAssertEqual(ann.map(\.token), [all[0].token, all[2].token])
        // historydescriptor/sortby
        let latest = try context.fetchHistory(
            Transactions(sortBy: [SortDescriptor(\.timestamp, order: .reverse)]))
        XCTAssertEqual(latest.map(\.token), all.map(\.token).reversed())
    }

    func testATokenIsComparedCodedAndStatesTheTransactionsOfStores() throws {
        try insert("a")
        try insert("b")
        let tokens = try context.fetchHistory(Transactions()).map(\.token)
        XCTAssertLessThan(tokens[0], tokens[1])
        XCTAssertEqual(
            try JSONDecoder().decode(DefaultHistoryToken.self, from: JSONEncoder().encode(tokens[0])), tokens[0])
        let value: [String: Int64] = try XCTUnwrap(tokens[1].tokenValue)
        XCTAssertEqual(value.count, 1)
    }

    func testATombstoneIsASequenceOfThePreservedValues() throws {
        let journey = Journey(name: "Italy")
        journey.code = 39
        journey.country = "IT"
        context.insert(journey)
        try context.save()
        let id = journey.persistentModelID
        context.delete(journey)
        try context.save()
        let changes = try XCTUnwrap(context.fetchHistory(Transactions()).last).changes
        guard case .delete(let deletion as DefaultHistoryDelete<Journey>)? = changes.first else {
            return XCTFail("The last change is not a deletion of a journey.")
        }
        XCTAssertEqual(changes.first?.changedPersistentIdentifier, id)
        XCTAssertEqual(deletion.tombstone[\.code] as? Int, 39)
        XCTAssertEqual(deletion.tombstone[\.country] as? String, "IT")
        XCTAssertNil(deletion.tombstone[\.days], "It is not preserved.")
        XCTAssertEqual(Set(deletion.tombstone.map { "\($0)" }), ["39", "IT"])
    }

    func testChangesAreTypedByTheirClasses() throws {
        let journey = WorkJourney(name: "Fair")
        context.insert(journey)
        try context.save()
        journey.purpose = "talk"
        journey.days = 2
        try context.save()
        let transactions = try context.fetchHistory(Transactions())
        guard case .insert(let insertion as DefaultHistoryInsert<WorkJourney>)? = transactions[0].changes.first else {
            return XCTFail("The first change is not the insertion of a work journey.")
        }
        XCTAssertEqual(insertion.changedPersistentIdentifier, journey.persistentModelID)
        guard case .update(let update as DefaultHistoryUpdate<WorkJourney>)? = transactions[1].changes.first else {
            return XCTFail("The second change is not the update of a work journey.")
        }
        let paths = Set(update.updatedAttributes.map { $0 as AnyKeyPath })
        XCTAssertEqual(paths.count, 2)
        XCTAssertTrue(paths.contains(\WorkJourney.purpose), "\(paths)")
        let values = update.updatedAttributes.map { "\(journey[keyPath: $0])" }
        XCTAssertEqual(Set(values), ["talk", "2"])
        journey.code = 7
        try context.save()
        context.delete(journey)
        try context.save()
        let last = try XCTUnwrap(context.fetchHistory(Transactions()).last)
        guard case .delete(let deletion as DefaultHistoryDelete<WorkJourney>)? = last.changes.first else {
            return XCTFail("The last change is not the deletion of a work journey.")
        }
        XCTAssertEqual(deletion.tombstone[\.code] as? Int, 7)
        XCTAssertNil(deletion.tombstone[\.days])
    }

    /// swiftdataerror/historytokenexpired
    func testATokenThatIsOlderThanTheHistoryHasExpired() throws {
        for name in ["a", "b", "c"] { try insert(name) }
        let tokens = try context.fetchHistory(Transactions()).map(\.token)
        let (first, second) = (tokens[0], tokens[1])
        try context.deleteHistory(Transactions(predicate: #Predicate { $0.token <= second }))
        XCTAssertEqual(try context.fetchHistory(Transactions()).map(\.token), [tokens[2]])
        XCTAssertEqual(
            try context.fetchHistory(Transactions(predicate: #Predicate { $0.token > second })).count, 1)
        XCTAssertThrowsError(try context.fetchHistory(Transactions(predicate: #Predicate { $0.token > first }))) {
            XCTAssertEqual($0 as? SwiftDataError, .historyTokenExpired)
            guard case SwiftDataError.historyTokenExpired = $0 else { return XCTFail("\($0)") }
        }
    }

    func testTheTokenOfAPredicateIsFoundInEachFormOfTheComparison() throws {
        for name in ["a", "b", "c", "d"] { try insert(name) }
        let tokens = try context.fetchHistory(Transactions()).map(\.token)
        try context.deleteHistory(Transactions(predicate: #Predicate { $0.token < tokens[2] }))
        struct State: Codable { var token: DefaultHistoryToken }
        let (state, author) = (State(token: tokens[0]), "ann")
        for expired in [
            #Predicate<DefaultHistoryTransaction> { $0.token >= tokens[1] }, #Predicate { state.token < $0.token },
            #Predicate { $0.author == author && $0.token > state.token }, #Predicate { state.token <= $0.token },
        ] {
            XCTAssertThrowsError(try context.fetchHistory(Transactions(predicate: expired))) {
                XCTAssertEqual($0 as? SwiftDataError, .historyTokenExpired)
            }
        }
        let (third, fourth) = (tokens[2], tokens[3])
        for (predicate, count) in [
            (#Predicate<DefaultHistoryTransaction> { $0.token >= third }, 2), (#Predicate { $0.token > third }, 1),
            (#Predicate { fourth <= $0.token }, 1), (#Predicate { $0.token > fourth }, 0),
            (#Predicate { $0.token > fourth || $0.token == third }, 1), (#Predicate { $0.token < fourth }, 1),
        ] { XCTAssertEqual(try context.fetchHistory(Transactions(predicate: predicate)).count, count) }
    }

    // MARK: - Inheritance: adopting-inheritance-in-swiftdata

    func testConditionsOnTheClassAreCombined() throws {
        try insert("Italy", "Spain")
        for name in ["Fair", "Talk"] { context.insert(WorkJourney(name: name)) }
        try context.save()
        XCTAssertEqual(try names(FetchDescriptor(predicate: #Predicate { $0 is WorkJourney })), ["Fair", "Talk"])
        XCTAssertEqual(
            try names(FetchDescriptor(predicate: #Predicate { $0 is WorkJourney && $0.name.contains("l") })), ["Talk"])
        XCTAssertEqual(
            try names(FetchDescriptor(predicate: #Predicate { !($0 is WorkJourney) && $0.name.contains("a") })),
            ["Italy", "Spain"])
        let purposes = #Predicate<Journey> { ($0 as? WorkJourney)?.purpose == "" }
        XCTAssertEqual(try names(FetchDescriptor(predicate: purposes)), ["Fair", "Talk"])
    }

    // MARK: - Actors: modelactor

    func testAnActorFindsAModelByItsIdentifier() async throws {
        try insert("Italy")
        let id = try XCTUnwrap(context.fetchIdentifiers(FetchDescriptor<Journey>()).first)
        let archive = JourneyArchive(modelContainer: container)
        let name = await archive.name(of: id)
        XCTAssertEqual(name, "Italy")
        let isStop = await archive.isStop(id)
        XCTAssertFalse(isStop)
        XCTAssertEqual(archive.modelContainer, container)
    }

    /// datastorefetchrequest, datastorefetchresult: both may be sent, and with them the descriptor that they have.
    func testADescriptorMayBeSentToAnActorAndUsedAgain() async throws {
        try insert("Italy", "Norway")
        var descriptor = FetchDescriptor<Journey>(sortBy: [SortDescriptor(\.name, order: .reverse)])
        descriptor.fetchLimit = 1
        let sent = descriptor
        let names = try await JourneyArchive(modelContainer: container).names(sent)
        XCTAssertEqual(names, ["Norway"])
        XCTAssertEqual(try context.fetch(sent).map(\.name), ["Norway"])

        let result = DataStoreFetchResult<Journey, DefaultSnapshot>(descriptor: sent, fetchedSnapshots: [])
        let limit = await Task.detached { result.descriptor.fetchLimit }.value
        XCTAssertEqual(limit, result.descriptor.fetchLimit)
    }
}
