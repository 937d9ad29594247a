import Foundation
import SwiftData
import XCTest

@testable import RecipeServer

final class RecipeServiceTests: XCTestCase {
    private var folder: URL!
    private var service: RecipeService!

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        service = try RecipeService(storeAt: folder.appendingPathComponent("recipes.store"))
    }

    override func tearDown() {
        service = nil
        try? FileManager.default.removeItem(at: folder)
    }

    private func put(_ json: String) async -> RecipeService.Response {
        await service.respond(to: .init("PUT", "/recipes", body: Data(json.utf8)))
    }

    private func names(within minutes: Int) async throws -> [String] {
        let response = await service.respond(to: .init("GET", "/recipes", query: ["minutes": "\(minutes)"]))
        return try JSONDecoder().decode([String].self, from: response.body)
    }

    func testRecipesArePutReadAndDeleted() async throws {
        let first = await put(
            #"[{"name": "Soup", "minutes": 30, "course": "starter", "steps": [{"number": 1, "text": "Chop"}, {"number": 2, "text": "Boil"}]}, {"name": "Cake", "minutes": 90}]"#
        )
        XCTAssertEqual(String(decoding: first.body, as: UTF8.self), "2")
        let quick = try await names(within: 60)
        XCTAssertEqual(quick, ["Soup"])
        let soup = await service.respond(to: .init("GET", "/recipes/Soup"))
        XCTAssertEqual(soup.status, 200)
        XCTAssertTrue(String(decoding: soup.body, as: UTF8.self).contains("Chop"))
        // The same recipe again: one step is changed, one is gone, one is new.
        let again = await put(
            #"{"name": "Soup", "minutes": 20, "steps": [{"number": 1, "text": "Chop finely"}, {"number": 3, "text": "Eat"}]}"#
        )
        XCTAssertEqual(again.status, 200)
        let changed = String(decoding: await service.respond(to: .init("GET", "/recipes/Soup")).body, as: UTF8.self)
        XCTAssertTrue(changed.contains("Chop finely") && changed.contains("Eat") && !changed.contains("Boil"), changed)
        let deleted = await service.respond(to: .init("DELETE", "/recipes/Soup"))
        XCTAssertEqual(deleted.status, 204)
        let missing = await service.respond(to: .init("DELETE", "/recipes/Soup"))
        XCTAssertEqual(missing.status, 404)
        let rest = try await names(within: 100)
        XCTAssertEqual(rest, ["Cake"])
    }

    func testInvalidRequestsChangeNothing() async throws {
        let broken = await put("{")
        XCTAssertEqual(broken.status, 400)
        let wrong = await put(#"[{"name": "Tea", "minutes": 3}, {"name": "Soup", "minutes": "long"}]"#)
        XCTAssertEqual(wrong.status, 422)
        XCTAssertTrue(String(decoding: wrong.body, as: UTF8.self).contains("minutes"))
        let none = try await names(within: 100)
        XCTAssertEqual(none, [])
        let unknown = await service.respond(to: .init("GET", "/guests"))
        XCTAssertEqual(unknown.status, 404)
        let method = await service.respond(to: .init("PATCH", "/recipes"))
        XCTAssertEqual(method.status, 405)
        let valid = await put(#"{"name": "Tea", "minutes": 3}"#)
        XCTAssertEqual(valid.status, 200)
    }

    func testManyRequestsMeet() async throws {
        let service = try XCTUnwrap(service)
        let observer = try service.changes()
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let body =
                        #"{"name": "R\#(number % 50)", "minutes": \#(number), "steps": [{"number": 1, "text": "a"}]}"#
                    let put = await service.respond(to: .init("PUT", "/recipes", body: Data(body.utf8)))
                    let read = await service.respond(to: .init("GET", "/recipes"))
                    return put.status == 200 && read.status == 200 ? 0 : 1
                }
            }
            for await failures in group { XCTAssertEqual(failures, 0) }
        }
        let all = try await names(within: 1_000)
        XCTAssertEqual(Set(all), Set((0..<50).map { "R\($0)" }))
        XCTAssertEqual(all.count, 50)
        for _ in 0..<200 where observer.eventCounter == 0 { try await Task.sleep(for: .milliseconds(10)) }
        XCTAssertGreaterThan(observer.eventCounter, 0)
    }
}
