import Foundation
import SwiftData
import XCTest

/// A test with a folder for its stores, and one container.
class StoreTestCase: XCTestCase {
    private(set) var folder: URL!
    var container: ModelContainer!
    var context: ModelContext!

    /// The container of the test, in the folder. Each class makes its own.
    func makeContainer() throws -> ModelContainer { throw CocoaError(.featureUnsupported) }

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        container = try makeContainer()
        context = ModelContext(container)
    }

    override func tearDown() {
        (context, container) = (nil, nil)
        try? FileManager.default.removeItem(at: folder)
    }
}
