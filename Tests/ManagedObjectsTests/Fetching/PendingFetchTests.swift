import Foundation
import PredicateLanguage
import Testing

import class FoundationAdditions.NSCompoundPredicate
import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// Fetches while the context has unsaved changes: the same results as those of a model that evaluates every object, and
/// no more rows than the limit and as many as have changed.
struct PendingFetchTests {
    // MARK: - Against a model

    @Test(arguments: TestStores.rowTypes, 0..<12)
    func `results are those of all objects, evaluated one by one`(type: String, seed: Int) throws {
        var world = try World(type: type, seed: UInt64(seed), notes: 40)
        for _ in 0..<6 {
            try world.change(Int.random(in: 1...6, using: &world.random))
            for _ in 0..<25 { try world.compare(in: world.context) }
        }
    }

    @Test(arguments: 0..<6)
    func `many changed rows are excluded in a second step`(seed: Int) throws {
        var world = try World(type: NSSQLiteStoreType, seed: UInt64(100 + seed), notes: 300)
        try world.change(200)
        for _ in 0..<60 { try world.compare(in: world.context) }
    }

    @Test(arguments: 0..<8)
    func `a child context sees its parent's changes and its own`(seed: Int) throws {
        var world = try World(type: NSSQLiteStoreType, seed: UInt64(200 + seed), notes: 40)
        try world.change(5)
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = world.context
        try world.move(to: child)
        for _ in 0..<30 { try world.compare(in: child) }
        try world.change(5)
        for _ in 0..<60 { try world.compare(in: child) }
    }

    @Test(arguments: 0..<8)
    func `values that change again and again are found by the index`(seed: Int) throws {
        var world = try World(type: NSSQLiteStoreType, seed: UInt64(300 + seed), notes: 20)
        for _ in 0..<40 { world.insertNote() }
        for _ in 0..<20 {
            try world.change(4)
            for _ in 0..<6 { try world.compare(in: world.context) }
            if Int.random(in: 0..<6, using: &world.random) == 0 { world.refreshOne() }
        }
    }

    // MARK: - Costs

    @Test func `a limit is the store's, whatever is unsaved`() throws {
        for count in [200, 2000] {
            let log = StatementLog()
            let stack = try log.stack()
            try Self.fill(stack, count)
            for change in Change.allCases {
                let context = stack.context()
                try change.make(in: context)
                // Delete rules read the relationships of a deleted object.
                context.processPendingChanges()
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.predicate = NSPredicate(format: "small < 5")
                request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
                request.fetchLimit = 20
                let before = context.registeredObjects.count
                var found: [NSManagedObject] = []
                let statements = try log.counting { found = try context.fetch(request) }
                #expect(found.count == 20)
                #expect(context.registeredObjects.count <= before + 22)
                #expect(statements.count == 1)
                var number = 0
                #expect(try log.counting { number = try context.count(for: request) }.count == 1)
                #expect(number == 20)
            }
        }
    }

    @Test func `the IDs and the number of all rows create no objects`() throws {
        let log = StatementLog()
        let stack = try log.stack()
        try Self.fill(stack, 2000)
        for change in Change.allCases {
            let context = stack.context()
            try change.make(in: context)
            let before = context.registeredObjects.count
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
            request.resultType = .managedObjectIDResultType
            request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
            let ids = try context.fetch(request)
            #expect(ids.count == 2000 + change.difference)
            #expect(context.registeredObjects.count <= before + 24)
            let counted = context.registeredObjects.count
            #expect(try context.count(for: request) == ids.count)
            #expect(context.registeredObjects.count == counted)
        }
    }

    @Test func `finding among new objects takes as many steps as are found`() throws {
        let stack = try TestStack()
        let context = stack.context()
        for number in 0..<500 {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "title == %@ AND count >= 0", "note \(number % 400)")
            request.fetchLimit = 1
            #expect(try context.fetch(request).count == (number < 400 ? 0 : 1))
            if number < 400 { _ = context.insert("Note", ["title": "note \(number)", "count": number]) }
        }
        let node = NSPredicate(format: "title == %@", "note 17").node
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Note"])
        let candidates = context.tracker.index.candidates(of: entity.index, for: RequiredValue.all(of: node))
        #expect(candidates.areSelected)
        #expect(candidates.objects.count == 1)
    }

    // MARK: - Support

    /// A change that is unsaved while rows are fetched.
    enum Change: CaseIterable {
        case otherEntity, insertion, update, deletion, insertionInParent

        var difference: Int {
            switch self {
            case .insertion: 1
            case .deletion: -1
            case .otherEntity, .update, .insertionInParent: 0
            }
        }

        func make(in context: NSManagedObjectContext) throws {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.fetchLimit = 1
            switch self {
            case .otherEntity: _ = context.insert("Tag", ["name": "new"])
            case .insertion: _ = context.insert("Note", ["count": -1, "small": 1])
            case .update: try context.fetch(request).first?.setValue(1_000_000, forKey: "count")
            case .deletion: try context.fetch(request).forEach { context.delete($0) }
            case .insertionInParent: _ = context.insert("Folder")
            }
        }
    }

    private static func fill(_ stack: TestStack, _ count: Int) throws {
        let context = stack.context()
        for number in 0..<count { _ = context.insert("Note", ["count": number, "small": number % 10]) }
        try context.save()
    }
}

/// Notes whose fetches are compared with an evaluation of each object.
private struct World {
    let stack: TestStack
    private(set) var context: NSManagedObjectContext
    var random: SeededGenerator
    /// All notes of the context, also deleted ones, in the order of the store and then of their insertion.
    private var notes: [NSManagedObject] = []
    private var items: [NSManagedObject] = []
    /// The notes as they are in the store.
    private var committed: [NSManagedObject] = []
    private let clean: NSManagedObjectContext
    private var isChild = false

    init(type: String, seed: UInt64, notes count: Int) throws {
        random = SeededGenerator(seed: seed)
        stack = try TestStack(model: QueryModel.make(), type: type)
        context = stack.context()
        clean = stack.context()
        for number in 0..<5 { items.append(context.insert("Item", ["name": "i\(number)", "size": number])) }
        for _ in 0..<count { insertNote() }
        try context.save()
        notes = try context.all("Note", sortedBy: "self")
        committed = try clean.all("Note", sortedBy: "self")
    }

    private mutating func number() -> Int { Int.random(in: 0..<5, using: &random) }
    private mutating func word() -> String { ["a", "b", "ab", "ä", "zz", "B"].randomElement(using: &random) ?? "a" }

    mutating func insertNote() {
        let note = context.insert("Note", ["count": number(), "small": number(), "title": word()])
        if number() == 0 { note.setValue(nil, forKey: "count") }
        if number() > 2 { note.setValue(items.randomElement(using: &random), forKey: "cover") }
        notes.append(note)
    }

    mutating func change(_ count: Int) throws {
        for _ in 0..<count {
            let note = notes.randomElement(using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: insertNote()
            case 2: note.map { context.delete($0) }
            case 3 where notes.count < 100: items.randomElement(using: &random)?.setValue(number(), forKey: "size")
            case 4: edit(note, "title", word())
            case 5: edit(note, "cover", items.randomElement(using: &random) as Any)
            case 6: edit(note, "count", NSNull())
            case 7: edit(note, "small", number())
            default: edit(note, "count", number())
            }
        }
    }

    private func edit(_ note: NSManagedObject?, _ key: String, _ value: Any) {
        guard let note, !note.isDeleted, note.managedObjectContext != nil else { return }
        note.setValue(value is NSNull ? nil : value, forKey: key)
    }

    /// Discards the changes of one object.
    mutating func refreshOne() {
        guard let note = notes.randomElement(using: &random), !note.isInserted, !note.isDeleted else { return }
        context.refresh(note, mergeChanges: number() > 2)
    }

    mutating func move(to child: NSManagedObjectContext) throws {
        notes = notes.filter { !$0.isDeleted && $0.managedObjectContext != nil }.map { child.object(with: $0.objectID) }
        items = items.map { child.object(with: $0.objectID) }
        context = child
        isChild = true
    }

    private mutating func predicate() -> NSPredicate? {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: nil
        case 1, 2: NSPredicate(format: "count == %d", number())
        case 3: NSPredicate(format: "count > %d OR title == %@", number(), word())
        case 4: NSPredicate(format: "title == %@ AND small < %d", word(), number())
        case 5: NSPredicate(format: "title IN %@", [word(), word()])
        case 6: NSPredicate(format: "cover == %@", items[number()])
        case 7: NSPredicate(format: "cover.size > %d", number())
        case 8: NSPredicate(format: "count == nil AND NOT small == %d", number())
        default: NSPredicate(format: "%d == small", number())
        }
    }

    private mutating func order() -> [NSSortDescriptor] {
        switch number() {
        case 0: []
        case 1: [NSSortDescriptor(key: "cover.size", ascending: true)]
        case 2: [NSSortDescriptor(key: "title", ascending: true), NSSortDescriptor(key: "count", ascending: false)]
        default: [NSSortDescriptor(key: "count", ascending: number() > 1)]
        }
    }

    /// Fetches with a random request, and compares objects, IDs and number with the model.
    mutating func compare(in context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = predicate()
        request.sortDescriptors = order()
        request.fetchLimit = number() > 1 ? Int.random(in: 1...8, using: &random) : 0
        request.fetchOffset = number() > 2 ? Int.random(in: 0...10, using: &random) : 0
        request.fetchBatchSize = number() == 0 ? 3 : 0
        if isChild, request.sortDescriptors?.isEmpty == true { return }
        let found = try context.fetch(request)
        let expected = try model(of: request)
        let keys = [request.predicate?.predicateFormat] + (request.sortDescriptors ?? []).map(\.key)
        let isByRelated = keys.contains { $0?.contains("cover.") == true }
        // Objects of the same order are in any order if other objects determine it.
        let isSame =
            isByRelated
            ? found.map { key(of: $0, request) } == expected.map { key(of: $0, request) } : found == expected
        if !isSame { Issue.record("\(describe(request)): \(names(found)), expected \(names(expected))") }
        let number = try context.count(for: request)
        if number != expected.count { Issue.record("\(describe(request)): \(number), expected \(expected.count)") }
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
        ids.predicate = request.predicate
        ids.sortDescriptors = request.sortDescriptors
        ids.fetchLimit = request.fetchLimit
        ids.fetchOffset = request.fetchOffset
        ids.resultType = .managedObjectIDResultType
        let isSameID = try context.fetch(ids) == found.map(\.objectID)
        if !isSameID { Issue.record("\(describe(request)): other IDs than objects") }
    }

    private func describe(_ request: NSFetchRequest<NSManagedObject>) -> String {
        let order = (request.sortDescriptors ?? []).map { "\($0.key ?? "") \($0.ascending)" }
        let window = (request.fetchOffset, request.fetchLimit, request.fetchBatchSize)
        return "\(request.predicate?.predicateFormat ?? "") by \(order), window \(window)"
    }

    private func names(_ notes: [NSManagedObject]) -> [String] {
        notes.map { note in
            let values = ["count", "title", "small"].map { "\(note.value(forKey: $0) ?? "nil")" }
            return "\(note.rowNumber)\(note.hasChanges ? "*" : ""):\(values.joined(separator: " "))"
        }
    }

    private func key(of note: NSManagedObject, _ request: NSFetchRequest<NSManagedObject>) -> [String] {
        (request.sortDescriptors ?? []).map { "\(note.value(forKeyPath: $0.key ?? "") ?? "nil")" }
    }

    private func model(of request: NSFetchRequest<NSManagedObject>) throws -> [NSManagedObject] {
        let rows = Dictionary(uniqueKeysWithValues: committed.map { ($0.objectID, $0) })
        var stored: [NSManagedObject] = []
        var others: [NSManagedObject] = []
        for note in notes where !note.isDeleted && note.managedObjectContext != nil {
            let matches = try request.predicate?.evaluation(with: note) != false
            let row = rows[note.objectID]
            let matchedBefore = try row.map { try request.predicate?.evaluation(with: $0) != false } ?? false
            let isChanged = note.hasChanges || isChangedInParent(note)
            guard matches, isChanged || matchedBefore else { continue }
            if matchedBefore { stored.append(note) } else { others.append(note) }
        }
        var all = stored + others
        let descriptors = request.sortDescriptors ?? []
        if !descriptors.isEmpty {
            let places = Dictionary(uniqueKeysWithValues: notes.enumerated().map { ($1, $0) })
            all.sort { one, other in
                for descriptor in descriptors {
                    let key = descriptor.key ?? ""
                    let order = Self.order(one.value(forKeyPath: key), other.value(forKeyPath: key))
                    if order != 0 { return descriptor.ascending ? order < 0 : order > 0 }
                }
                return places[one] ?? 0 < places[other] ?? 0
            }
        }
        let rest = all.dropFirst(request.fetchOffset)
        return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
    }

    private func isChangedInParent(_ note: NSManagedObject) -> Bool {
        guard isChild, let parent = context.parent else { return false }
        return parent.registeredObject(for: note.objectID)?.hasChanges == true
    }

    private static func order(_ one: Any?, _ other: Any?) -> Int {
        switch (one, other) {
        case (nil, nil): 0
        case (nil, _): -1
        case (_, nil): 1
        case (let one as String, let other as String):
            one.unicodeScalars.elementsEqual(other.unicodeScalars)
                ? 0 : one.unicodeScalars.lexicographicallyPrecedes(other.unicodeScalars) ? -1 : 1
        case (let one as NSNumber, let other as NSNumber): one.compare(other).rawValue
        default: 0
        }
    }
}
