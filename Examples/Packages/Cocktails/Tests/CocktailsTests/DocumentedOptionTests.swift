import CoreData
import Foundation
import GRDB
import SwiftData
import XCTest

/// A value that a transformer stores.
final class Paint: NSObject {
    let name: String
    init(_ name: String) { self.name = name }
    override func isEqual(_ object: Any?) -> Bool { (object as? Paint)?.name == name }
    override var hash: Int { name.hashValue }
}

final class PaintTransformer: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { (value as? Paint).map { Data($0.name.utf8) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { Paint(String(decoding: $0, as: UTF8.self)) }
    }
}

@Model
final class Canvas {
    #Unique<Canvas>([\.title, \.year])
    #Index<Canvas>(.rtree([\.x, \.y]), .binary([\.year]))
    var title: String
    var year: Int
    var x = 0.0
    var y = 0.0
    @Attribute(.transformable(by: PaintTransformer.self)) var paint: Paint?
    @Attribute(.ephemeral) var isSelected = false
    @Relationship(minimumModelCount: 1, maximumModelCount: 2, inverse: \Nail.canvas) var nails: [Nail] = []
    init(title: String, year: Int) {
        self.title = title
        self.year = year
        nails = [Nail()]
    }
}

@Model
final class Nail {
    var length = 3
    var canvas: Canvas?
    init() {}
}

/// What Apple's documentation states of the options of attributes and relationships; each test names the page, below
/// https://developer.apple.com/documentation/swiftdata.
final class DocumentedOptionTests: StoreTestCase {
    private var url: URL { folder.appendingPathComponent("canvases.store") }

    override func makeContainer() throws -> ModelContainer {
        ValueTransformer.setValueTransformer(
            PaintTransformer(), forName: NSValueTransformerName(String(describing: PaintTransformer.self)))
        return try ModelContainer(for: Canvas.self, configurations: ModelConfiguration(url: url))
    }

    private func row<Value>(_ sql: String, _ read: (Row) throws -> Value) throws -> Value {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        let database = try DatabaseQueue(path: url.path, configuration: configuration)
        return try database.read { try read(try XCTUnwrap(try Row.fetchOne($0, sql: sql))) }
    }

    /// schema/attribute/option/transformable(by:)
    func testATransformerTransformsBetweenMemoryAndStore() throws {
        let canvas = Canvas(title: "a", year: 1900)
        canvas.paint = Paint("ochre")
        context.insert(canvas)
        try context.save()
        XCTAssertEqual(try row("SELECT ZPAINT FROM ZCANVAS") { Data($0[0] as Data) }, Data("ochre".utf8))
        let other = ModelContext(container)
        let same = try XCTUnwrap(other.fetch(FetchDescriptor<Canvas>()).first)
        XCTAssertEqual(same.paint, Paint("ochre"))
        same.paint = nil
        try other.save()
        XCTAssertNil(try ModelContext(container).fetch(FetchDescriptor<Canvas>()).first?.paint)
    }

    /// schema/attribute/option/ephemeral: the change is tracked, and nothing is stored.
    func testAChangeOfAnEphemeralValueIsTracked() throws {
        let canvas = Canvas(title: "a", year: 1900)
        context.insert(canvas)
        try context.save()
        canvas.isSelected = true
        XCTAssertTrue(context.hasChanges)
        XCTAssertTrue(canvas.hasChanges)
        context.rollback()
        XCTAssertFalse(canvas.isSelected)
        let columns = try row("SELECT group_concat(name) FROM pragma_table_info('ZCANVAS')") { $0[0] as String }
        XCTAssertFalse(columns.contains("SELECTED"), columns)
    }

    /// relationship(_:deleterule:minimummodelcount:maximummodelcount:originalname:inverse:hashmodifier:)
    func testTheCountsOfARelationshipAreValidated() throws {
        let canvas = Canvas(title: "a", year: 1900)
        context.insert(canvas)
        try context.save()
        for count in [0, 3] {
            canvas.nails = (0..<count).map { _ in Nail() }
            XCTAssertThrowsError(try context.save(), "\(count)") {
                XCTAssertEqual($0 as? SwiftDataError, .modelValidationFailure)
                XCTAssertTrue("\($0)".contains("nails"), "\($0)")
            }
        }
        canvas.nails = [Nail(), Nail()]
        try context.save()
        XCTAssertEqual(try ModelContext(container).fetch(FetchDescriptor<Canvas>()).first?.nails.count, 2)
    }

    /// unique(_:): each array of key paths is one constraint.
    func testAConstraintOfTwoPropertiesComparesBoth() throws {
        context.insert(Canvas(title: "a", year: 1900))
        context.insert(Canvas(title: "a", year: 1901))
        try context.save()
        let again = Canvas(title: "a", year: 1901)
        again.x = 5
        context.insert(again)
        try context.save()
        let all = try ModelContext(container).fetch(FetchDescriptor<Canvas>(sortBy: [SortDescriptor(\.year)]))
        XCTAssertEqual(all.map(\.year), [1900, 1901])
        XCTAssertEqual(all.map(\.x), [0, 5])
    }

    /// index(_:)-74ia2: an index is binary, or an R-tree for conditions on positions.
    func testBothKindsOfIndexesAreMadeAndFollowTheValues() throws {
        for number in 0..<20 {
            let canvas = Canvas(title: "\(number)", year: 1900)
            (canvas.x, canvas.y) = (Double(number), Double(-number))
            context.insert(canvas)
        }
        try context.save()
        let names = try row(
            "SELECT group_concat(name) FROM sqlite_master WHERE tbl_name LIKE 'Z%RT%' OR type = 'index'"
        ) {
            $0[0] as String
        }
        XCTAssertTrue(names.contains("RT_"), names)
        XCTAssertTrue(names.lowercased().contains("year"), names)
        let near = #Predicate<Canvas> { $0.x >= 5 && $0.x <= 7 && $0.y >= -6.5 }
        XCTAssertEqual(
            try context.fetch(FetchDescriptor(predicate: near, sortBy: [SortDescriptor(\.x)])).map(\.title), ["5", "6"])
    }

    // MARK: - Conformances that the pages of the types state

    /// persistentidentifier, schema, schema/version
    func testIdentifiersAndSchemasAreValues() throws {
        for title in ["a", "b"] { context.insert(Canvas(title: title, year: 1)) }
        try context.save()
        let ids = try context.fetchIdentifiers(FetchDescriptor<Canvas>())
        XCTAssertEqual(Set(ids + ids).count, 2)
        XCTAssertEqual(ids.sorted(), ids.sorted().reversed().sorted())
        XCTAssertNotEqual(ids[0] < ids[1], ids[1] < ids[0])
        let (one, other) = (Schema([Canvas.self]), Schema([Canvas.self]))
        XCTAssertEqual(one, other)
        XCTAssertEqual(Set([one, other]).count, 1)
        XCTAssertNotEqual(one, Schema([Nail.self], version: Schema.Version(2, 0, 0)))
        let version = Schema.Version(1, 2, 3)
        XCTAssertEqual(
            try JSONDecoder().decode(Schema.Version.self, from: JSONEncoder().encode(version)), version)
    }

    /// modelconfiguration: by default the group and the database in iCloud are chosen automatically.
    func testTheAutomaticPartsOfAConfiguration() {
        let configuration = ModelConfiguration("notes")
        XCTAssertEqual(configuration.groupContainer, .automatic)
        XCTAssertEqual(configuration.cloudKitDatabase, .automatic)
        XCTAssertNotEqual(ModelConfiguration.GroupContainer.automatic, .identifier("group.notes"))
        XCTAssertEqual(Set([configuration, ModelConfiguration("notes")]).count, 1)
    }

    /// swiftdataerror: an error is caught by its case, with `catch` and `~=`.
    func testErrorsAreCaughtByTheirCases() throws {
        let canvas = Canvas(title: "a", year: 1900)
        canvas.nails = []
        context.insert(canvas)
        do {
            try context.save()
            XCTFail("A required relationship is empty.")
        } catch SwiftDataError.historyTokenExpired {
            XCTFail("It is another error.")
        } catch SwiftDataError.modelValidationFailure {
            XCTAssertTrue(context.hasChanges)
        }
        XCTAssertEqual(Set([SwiftDataError.unknownSchema, .unknownSchema, .backwardMigration]).count, 2)
    }
}
