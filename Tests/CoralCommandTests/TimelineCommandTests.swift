import Coral
import Foundation
import GRDB
import Testing

@testable import CoralCommand

/// `coral timeline`: all dates of a store in one sequence.
@Suite struct TimelineCommandTests {
    private let store: NotesStore

    init() throws {
        store = try NotesStore()
        try setDates(first: 100, second: 86_400)
    }

    private func setDates(first: Double, second: Double) throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.write {
            try $0.execute(
                sql: "UPDATE ZNOTE SET ZCREATEDAT = CASE Z_PK WHEN 1 THEN ? ELSE ? END", arguments: [first, second])
        }
        try queue.close()
    }

    private func timeline(_ arguments: String...) throws -> CommandRun {
        try CommandRun(["timeline", store.path] + arguments)
    }

    @Test func `dates are in the order of time, with object, attribute and display name`() throws {
        try setDates(first: 86_400, second: Date.distantPast.timeIntervalSinceReferenceDate)
        let before = try store.contents()
        let csv = try timeline("--csv")
        #expect(
            csv.output
                == "when,object,event,label\r\n0001-01-01T00:00:00.000Z,Note/p2,createdAt,\"Garden, \"\"big\"\"\"\r\n"
                + "2001-01-02T00:00:00.000Z,Note/p1,createdAt,Groceries\r\n", "\(csv.output)\(csv.errors)")
        let table = try timeline().output.split(separator: "\n")
        #expect(table.count == 3 && table[1].hasPrefix("0001-01-01T00:00:00.000Z  Note/p2"), "\(table)")
        let json = try JSONSerialization.jsonObject(with: Data(timeline("--json").output.utf8)) as? [[String: Any]]
        #expect(json?.map { $0["label"] as? String } == ["Garden, \"big\"", "Groceries"])
        #expect(try store.contents() == before)
    }

    @Test func `a part is chosen by time and entity`() throws {
        #expect(try timeline("--since", "2001-01-02").output.contains("Note/p2"))
        #expect(try !timeline("--since", "2001-01-02").output.contains("Note/p1"))
        #expect(try !timeline("--until", "2001-01-02").output.contains("Note/p2"))
        #expect(try timeline("--until", "2001-01-02").output.contains("Note/p1"))
        #expect(try timeline("--since", "2001-01-01 00:02").output.split(separator: "\n").count == 2)
        // A day begins at midnight of the zone.
        let zoned = try timeline("--since", "2001-01-02", "--time-zone", "+01:00", "--csv").output
        #expect(zoned.contains("2001-01-02T01:00:00.000+01:00,Note/p2"), "\(zoned)")
        #expect(try timeline("--entity", "Person").output == "No dates found.\n")
        #expect(try timeline("--entity", "Nite").errors.contains("Did you mean \"Note\"?"))
        #expect(try timeline("--since", "soon").errors.contains("--since soon is not a date"))
        #expect(try timeline("--csv", "--html").status == 64)
    }

    @Test func `a page has a picture of the activity, in which dates for never have no part`() throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = '<b>' WHERE Z_PK = 1") }
        try queue.close()
        #expect(try timeline("-o", store.file("t.html")).status == 0)
        let page = try String(contentsOfFile: store.file("t.html"), encoding: .utf8)
        #expect(page.contains("&lt;b&gt;") && !page.contains("<b>"))
        #expect(page.matches(of: /<rect x/).count == 2 && page.contains("2001-01-01 to 2001-01-02"))
        try setDates(first: Date.distantFuture.timeIntervalSinceReferenceDate, second: 5)
        #expect(try timeline("-o", store.file("t.html"), "--force").status == 0)
        #expect(try !String(contentsOfFile: store.file("t.html"), encoding: .utf8).contains("<rect "))
        #expect(try timeline("-o", store.file("t.xlsx")).status == 1)
    }

    @Test func `labels are those of the state from which the dates are`() throws {
        let store = try NotesStore(titles: (0..<1_200).map { "Note \($0)" })
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZCREATEDAT = Z_PK") }
        let open = try OpenStore(path: store.path, model: ModelSource.parse([]))
        var labels: [String?] = []
        try open.context.performAndWait {
            let timeline = try Timeline(
                of: [open.entity(named: "Note")], in: open, .init(), .discreteProgress(totalUnitCount: 0))
            try timeline.forEach(in: open) { event in
                if labels.isEmpty { try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = 'other'") } }
                labels.append(event.label)
            }
        }
        try open.close()
        try queue.close()
        #expect(labels == (0..<1_200).map { "Note \($0)" })
    }

    #if !canImport(Darwin)
        @Test func `dates in composite values and changes of a history are events`() throws {
            let element = NSAttributeDescription()
            (element.name, element.attributeType) = ("at", .dateAttributeType)
            let composite = NSCompositeAttributeDescription()
            (composite.name, composite.elements) = ("meeting", [element])
            let entity = NSEntityDescription()
            (entity.name, entity.properties) = ("Event", [composite])
            // Without objects, after an entity with objects: the total of the progress becomes zero.
            let empty = NSEntityDescription()
            (empty.name, empty.properties) = ("Rest", [composite.copy() as? NSAttributeDescription].compactMap { $0 })
            let model = NSManagedObjectModel()
            model.entities = [entity, empty]
            let url = store.folder.appendingPathComponent("Events.sqlite")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let added = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [NSPersistentHistoryTrackingKey: true as NSNumber])
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
                object.setValue(["at": Date(timeIntervalSinceReferenceDate: 0)], forKey: "meeting")
                try context.save()
                context.delete(object)
                try context.save()
                let other = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
                other.setValue(["at": Date(timeIntervalSinceReferenceDate: 0)], forKey: "meeting")
                try context.save()
            }
            try coordinator.remove(added)
            let run = try CommandRun("timeline", url.path, "--csv")
            let events = run.output.split(separator: "\r\n").dropFirst().map {
                $0.split(separator: ",").dropFirst().joined(separator: " ")
            }
            #expect(
                events == ["Event/p2 meeting.at", "Event/p1 inserted", "Event/p1 deleted", "Event/p2 inserted"],
                "\(run.output)\(run.errors)")
        }
    #endif
}
