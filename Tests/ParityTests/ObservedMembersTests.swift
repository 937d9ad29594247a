import CoreData
import Testing

/// The changes that observers of to-many relationships receive.
///
/// https://developer.apple.com/documentation/foundation/nskeyvaluechange: kinds other than `.setting` are those of a relationship whose
/// members change. https://developer.apple.com/documentation/foundation/nskeyvaluesetmutationkind: the kinds of the changes of sets.
/// SwiftDatastore, `test_observe_toManyRelationship_setObjects` and `test_observe_toManyOrdered_set`, expects all objects of
/// `addObjects(from:)` in one change: https://github.com/tomkuku/SwiftDatastore
@Suite struct ObservedMembersTests {
    /// The changes of a property in a readable form: `insertion new: a b at: 0 1`.
    private final class Witness {
        private(set) var changes: [String] = []
        private var end: (() -> Void)?

        #if canImport(ObjectiveC)
            private final class Observer: NSObject {
                let report: ([NSKeyValueChangeKey: Any]) -> Void

                init(_ report: @escaping ([NSKeyValueChangeKey: Any]) -> Void) { self.report = report }

                override func observeValue(
                    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
                    context: UnsafeMutableRawPointer?
                ) {
                    report(change ?? [:])
                }
            }
        #endif

        init(_ object: NSManagedObject, _ key: String) {
            #if canImport(ObjectiveC)
                let observer = Observer { [unowned self] change in
                    let kind = (change[.kindKey] as? UInt).flatMap(NSKeyValueChange.init) ?? .setting
                    report(kind, old: change[.oldKey], new: change[.newKey], change[.indexesKey] as? IndexSet)
                }
                object.addObserver(observer, forKeyPath: key, options: [.old, .new], context: nil)
                end = { object.removeObserver(observer, forKeyPath: key) }
            #else
                let observation = object.observe(key: key, options: [.old, .new]) { [unowned self] _, change in
                    report(change.kind, old: change.oldValue ?? nil, new: change.newValue ?? nil, change.indexes)
                }
                end = { observation.invalidate() }
            #endif
        }

        deinit { end?() }

        private func report(_ kind: NSKeyValueChange, old: Any?, new: Any?, _ indexes: IndexSet?) {
            func names(_ value: Any?) -> String {
                let objects =
                    switch value {
                    case let set as NSSet: set.allObjects
                    case let set as NSOrderedSet: set.array
                    case let array as NSArray: array.map { $0 }
                    default: [Any]()
                    }
                let names = objects.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
                return (indexes == nil ? names.sorted() : names).joined(separator: " ")
            }
            let name =
                switch kind {
                case .setting: "setting"
                case .insertion: "insertion"
                case .removal: "removal"
                case .replacement: "replacement"
                @unknown default: "unknown"
                }
            let parts = [
                names(old).isEmpty ? nil : "old: " + names(old), names(new).isEmpty ? nil : "new: " + names(new),
                indexes.map { "at: " + $0.map(String.init).joined(separator: " ") },
            ]
            changes.append(([name] + parts.compactMap { $0 }).joined(separator: " "))
        }

        func take() -> [String] {
            defer { changes = [] }
            return changes
        }
    }

    private func perform(
        _ body: (NSManagedObjectContext, _ note: NSManagedObject, [NSManagedObject]) throws -> Void,
        members entity: String
    ) throws {
        let diary = try Diary(NSInMemoryStoreType)
        let context = diary.context()
        try context.performAndWait { () throws in
            let note = context.insert("Note", ["title": "one"])
            try body(context, note, ["a", "b", "c"].map { context.insert(entity, ["name": $0]) })
        }
    }

    @Test func changesOfASetHaveKinds() throws {
        try perform(
            { _, note, tags in
                let witness = Witness(note, "tags")
                let set = note.mutableSetValue(forKey: "tags")
                set.add(tags[0])
                #expect(witness.take() == ["insertion new: a"])
                set.addObjects(from: [tags[1], tags[2]])
                #expect(witness.take() == ["insertion new: b c"])
                set.remove(tags[1])
                #expect(witness.take() == ["removal old: b"])
                set.removeAllObjects()
                #expect(witness.take() == ["removal old: a c"])
                note.setValue(Set([tags[1]]), forKey: "tags")
                #expect(witness.take() == ["setting new: b"])
            }, members: "Tag")
    }

    @Test func changesByTheInverseHaveKinds() throws {
        try perform(
            { _, note, tags in
                let witness = Witness(note, "tags")
                tags[0].mutableSetValue(forKey: "notes").add(note)
                #expect(witness.take() == ["insertion new: a"])
                tags[0].mutableSetValue(forKey: "notes").remove(note)
                #expect(witness.take() == ["removal old: a"])
            }, members: "Tag")
    }

    @Test func changesOfAnOrderedSetHaveKindsAndPlaces() throws {
        try perform(
            { _, note, items in
                let witness = Witness(note, "items")
                let set = note.mutableOrderedSetValue(forKey: "items")
                set.addObjects(from: [items[0], items[1]])
                #expect(witness.take() == ["insertion new: a b at: 0 1"])
                set.insert(items[2], at: 1)
                #expect(witness.take() == ["insertion new: c at: 1"])
                set.removeObject(at: 0)
                #expect(witness.take() == ["removal old: a at: 0"])
                set.replaceObject(at: 1, with: items[0])
                #expect(witness.take() == ["replacement old: b new: a at: 1"])
                #expect(set.array as? [NSManagedObject] == [items[2], items[0]])
                set.removeAllObjects()
                #expect(witness.take() == ["removal old: c a at: 0 1"])
            }, members: "Item")
    }

    /// An accessor that announces its changes itself, as SwiftDatastore's: its own changes of the set are reported within the
    /// replacement.
    @Test func announcedChangesHaveTheirKinds() throws {
        try perform(
            { _, note, tags in
                let set = note.mutableSetValue(forKey: "tags")
                set.add(tags[0])
                let witness = Witness(note, "tags")
                note.willChangeValue(forKey: "tags", withSetMutation: .set, using: [])
                set.removeAllObjects()
                set.addObjects(from: [tags[1], tags[2]])
                note.didChangeValue(forKey: "tags", withSetMutation: .set, using: Set(tags[1...]))
                let changes = witness.take()
                #expect(changes.count == 3)
                #expect(changes.prefix(2) == ["removal old: a", "insertion new: b c"])
                #expect(changes.last?.hasPrefix("replacement") == true)
                #expect(changes.last?.contains("new: b c") == true)
            }, members: "Tag")
        try perform(
            { _, note, items in
                let witness = Witness(note, "items")
                let set = note.mutableOrderedSetValue(forKey: "items")
                note.willChange(.setting, valuesAt: IndexSet(), forKey: "items")
                set.removeAllObjects()
                set.addObjects(from: items)
                note.didChange(.setting, valuesAt: IndexSet(integersIn: 0..<3), forKey: "items")
                let changes = witness.take()
                #expect(changes.suffix(2).first == "insertion new: a b c at: 0 1 2")
                #expect(changes.last?.hasPrefix("setting") == true)
            }, members: "Item")
    }
}
