import Coral
import CoralModels
import Foundation
import SwiftData
import XCTest

/// Work in the background of a container, and models in Codable values, as people write them for managed objects.
@MainActor
final class GuessTests: XCTestCase {
    private struct Table: Codable {
        @ReferencedModel var host: Guest?
        @ReferencedModel var guests: [Guest] = []
        var number = 1
    }

    private func makeContainer() throws -> ModelContainer {
        try ModelContainer(for: Menu.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    private func temporaryFile() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    }

    func testTheMainContextHasTheModelsOfAnImportAndKeepsItsOwnChanges() async throws {
        let container = try makeContainer()
        let context = container.mainContext
        context.autosaveEnabled = false
        let menu = Menu(title: "Lunch")
        menu.courses = [Course(name: "Soup")]
        context.insert(menu)
        try context.save()
        menu.isOpen = true
        menu.draft = "mine"
        let json = Data(
            #"""
            {"Menu": [{"title": "Lunch", "courses": [{"name": "Soup", "version": 2}]},
                      {"title": "Dinner", "printed": "2024-02-29"}]}
            """#.utf8)
        let ids = try await container.importModels(from: .data(json), as: Menu.self)
        XCTAssertEqual(ids.count, 2)
        XCTAssertEqual(ids.first, menu.persistentModelID)
        XCTAssertEqual(menu.courses.map(\.version), [2])
        XCTAssertEqual(menu.draft, "mine")
        XCTAssertTrue(menu.isOpen)
        XCTAssertEqual((context.model(for: try XCTUnwrap(ids.last)) as? Menu)?.title, "Dinner")
    }

    func testAnImportThatFailsOrIsCancelledSavesNothing() async throws {
        let container = try makeContainer()
        let wrong = Data(
            #"{"Menu": [{"title": "Lunch", "printed": "2024-02-29"}, {"title": "Dinner", "printed": "soon"}]}"#.utf8)
        do {
            try await container.importModels(from: .data(wrong), as: Menu.self)
            XCTFail("The document is not valid.")
        } catch let error as ImportError {
            XCTAssertEqual(error.code, .wrongValue)
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await container.importModels(
                from: .data(Data(#"{"Menu": [{"title": "Lunch", "printed": "2024-02-29"}]}"#.utf8)), as: Menu.self)
        }
        do {
            _ = try await task.value
            XCTFail("The task was cancelled.")
        } catch let error as CocoaError {
            XCTAssertEqual(error.code, .userCancelled)
        }
        XCTAssertEqual(try container.mainContext.fetchCount(FetchDescriptor<Menu>()), 0)
    }

    func testADocumentAndCopiesAreMadeInTheBackground() async throws {
        let container = try makeContainer()
        let context = container.mainContext
        let menu = Menu(title: "Lunch")
        menu.courses = [Course(name: "Soup")]
        context.insert(menu)
        try context.save()
        let id = menu.persistentModelID
        let document = try await container.encoded([id])
        XCTAssertEqual(document, try [menu].encoded())
        let url = temporaryFile()
        defer { try? FileManager.default.removeItem(at: url) }
        let result = try await container.export(to: url)
        XCTAssertEqual(result.recordCount, 2)
        let copies = try await container.deepCopies(of: [id])
        let copy = try XCTUnwrap(context.model(for: try XCTUnwrap(copies.first)) as? Menu)
        XCTAssertEqual(copy.courses.map(\.name), ["Soup"])
        XCTAssertNotEqual(copy.id, menu.id)
        context.delete(menu)
        try context.save()
        do {
            _ = try await container.encoded([id])
            XCTFail("The model was deleted.")
        } catch let error as ModelToolkitError {
            XCTAssertEqual(error.code, .noModel)
        }
    }

    func testModelsInACodableValue() async throws {
        let container = try makeContainer()
        let context = container.mainContext
        let guests = ["Ada", "Grace"].map(Guest.init)
        guests.forEach(context.insert)
        try context.save()
        let data = try JSONEncoder().encode(Table(host: guests[1], guests: guests, number: 3))
        let table = try context.decode(Table.self, from: data)
        XCTAssertEqual(table.host?.name, "Grace")
        XCTAssertEqual(table.guests.map(\.name), ["Ada", "Grace"])
        XCTAssertEqual(table.number, 3)
        XCTAssertTrue(table.$guests.isEmpty)
        XCTAssertEqual(try JSONEncoder().encode(Table(host: nil)).count > 0, true)

        // Another store has a model with the same key.
        let other = try makeContainer().mainContext
        other.insert(Guest(name: "Grace"))
        try other.save()
        let elsewhere = try other.decode(Table.self, from: data)
        XCTAssertEqual(elsewhere.host?.name, "Grace")
        XCTAssertEqual(elsewhere.guests.map(\.name), ["Grace"])
        XCTAssertEqual(elsewhere.$guests.count, 1)
        // What was not found is not lost.
        let again = try context.decode(Table.self, from: JSONEncoder().encode(elsewhere))
        XCTAssertEqual(again.guests.map(\.name), ["Ada", "Grace"])

        let older = try context.decode(Table.self, from: Data(#"{"number": 2}"#.utf8))
        XCTAssertNil(older.host)
        XCTAssertTrue(older.guests.isEmpty)
        XCTAssertThrowsError(try JSONDecoder().decode(Table.self, from: data)) { error in
            XCTAssertEqual(
                (error as? ReferenceError)?.message, "Decode the value by the method decode(_:from:) of a ModelContext."
            )
        }
    }
}
