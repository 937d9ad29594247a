import CoreData
import XCTest

@testable import TravelDiary

final class StoreFileTests: XCTestCase {
    private var folder: URL!
    private var url: URL { folder.appendingPathComponent("TravelDiary.sqlite") }

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDownWithError() throws {
        try FileManager.default.removeItem(at: folder)
    }

    func testMigrationSplitsNames() throws {
        let migrator = StoreMigrator()
        let model = try migrator.model(named: "TravelDiary")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for name in ["Anna Maria Berg", "Ben"] {
                let entity = try XCTUnwrap(NSEntityDescription.entity(forEntityName: "Traveler", in: context))
                let traveler = NSManagedObject(entity: entity, insertInto: context)
                traveler.setValue(name, forKey: "fullName")
            }
            try context.save()
        }
        try coordinator.remove(store)

        XCTAssertTrue(try migrator.needsMigration(url))
        try migrator.migrate(url)
        XCTAssertFalse(try migrator.needsMigration(url))
        let stack = try CoreDataStack(storage: .file(url))
        let travelers = try Repository<Traveler>(context: stack.viewContext).all(
            sortedBy: [NSSortDescriptor(key: #keyPath(Traveler.firstName), ascending: true)])
        XCTAssertEqual(travelers.map(\.firstName), ["Anna", "Ben"])
        XCTAssertEqual(travelers.map(\.lastName), ["Maria Berg", nil])
    }

    func testHistory() throws {
        let stack = try CoreDataStack(storage: .file(url))
        let reader = HistoryReader(stack: stack)
        let trip = TripRepository(context: stack.viewContext).create(named: "Chile")
        trip.addStop(named: "Santiago", latitude: -33.45, longitude: -70.67)
        try stack.save()
        let inserted = try reader.changedEntities()
        XCTAssertEqual(inserted, [.insert: ["Trip", "Stop"]])
        stack.viewContext.delete(trip)
        try stack.save()
        XCTAssertEqual(try reader.changedEntities(), [.delete: ["Trip", "Stop"]])
        XCTAssertEqual(try reader.newTransactions().count, 0)
    }

    func testReopenedStore() throws {
        do {
            let stack = try CoreDataStack(storage: .file(url))
            let trip = TripRepository(context: stack.viewContext).create(named: "Chile")
            trip.coverColor = CoverColor(red: 1, green: 0, blue: 0)
            try stack.save()
        }
        let stack = try CoreDataStack(storage: .file(url))
        let trip = try XCTUnwrap(try TripRepository(context: stack.viewContext).all().first)
        XCTAssertEqual(trip.coverColor?.red, 1)
    }

    func testObserverCollectsIdentifiers() throws {
        let stack = try CoreDataStack(storage: .memory)
        let observer = ChangeObserver(context: stack.viewContext)
        let trip = TripRepository(context: stack.viewContext).create(named: "Chile")
        stack.viewContext.processPendingChanges()
        XCTAssertEqual(observer.takeIdentifiers(), [trip.identifier!])
        XCTAssertEqual(observer.takeIdentifiers(), [])
    }
}
