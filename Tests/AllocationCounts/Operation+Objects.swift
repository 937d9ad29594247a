import CoreData

extension Operation {
    /// Operations on objects in a context, and saves.
    static var ofObjects: [Operation] { changes + saves + reads + predicates + relationships }

    private static var changes: [Operation] {
        [
            Operation("insert an object and set its five attributes", startingWith: .empty) { store, count in
                { for number in 0..<count { store.insertNote(number) } }
            },
            Operation("set an attribute of an unchanged object", forEach: { $0.position += 1 }),
            Operation("set an attribute of a changed object", after: { $0.position += 1 }, forEach: { $0.rank = 2.5 }),
            Operation(
                "set an attribute of a changed object by key", after: { $0.position += 1 },
                forEach: { $0.setValue(2.5, forKey: "rank") }),
            Operation(
                "ask what has changed in an object", after: { $0.position += 1 }, forEach: { _ = $0.changedValues() }),
        ]
    }

    private static var saves: [Operation] {
        [
            Operation("save an inserted object", startingWith: .empty) { store, count in
                for number in 0..<count { store.insertNote(number) }
                return { try store.context.save() }
            },
            Operation("save a changed object", startingWith: .notes) { store, _ in
                for note in try store.fetchNotes() { note.position += 1 }
                return { try store.context.save() }
            },
            Operation("delete an object and save", startingWith: .notes) { store, _ in
                let notes = try store.fetchNotes()
                return {
                    for note in notes { store.context.delete(note) }
                    try store.context.save()
                }
            },
        ]
    }

    private static var reads: [Operation] {
        [
            Operation("fetch an object with its row", startingWith: .notes) { store, _ in
                { _ = try store.fetchNotes() }
            },
            Operation("fetch with a predicate, an order and a limit", startingWith: .empty) { store, count in
                let request = NSFetchRequest<Note>(entityName: "Note")
                request.predicate = NSPredicate(format: "position >= %d AND isPinned == YES", 0)
                request.sortDescriptors = [NSSortDescriptor(key: "position", ascending: true)]
                request.fetchLimit = 20
                return { for _ in 0..<count { _ = try store.context.fetch(request) } }
            },
            Operation(
                "fire a fault", after: { $0.managedObjectContext?.refresh($0, mergeChanges: false) },
                forEach: { $0.willAccessValue(forKey: nil) }),
            Operation("read an integer", forEach: { _ = $0.position }),
            Operation("read a text", forEach: { _ = $0.title }),
            Operation("read an integer by key", forEach: { _ = $0.value(forKey: "position") }),
        ]
    }

    private static var predicates: [Operation] {
        let format = "position >= %d AND isPinned == YES"
        let predicate = NSPredicate(format: format, 0)
        return [
            Operation("parse a predicate of two comparisons", startingWith: .empty) { _, count in
                { for number in 0..<count { _ = NSPredicate(format: format, number) } }
            },
            Operation("evaluate it on an object", forEach: { _ = predicate.evaluate(with: $0) }),
        ]
    }

    private static var relationships: [Operation] {
        [
            Operation("add a new object to the members of an owner", startingWith: .empty) { store, count in
                let folder = Folder(context: store.context)
                let notes = (0..<count).map(store.insertNote)
                return { for note in notes { note.folder = folder } }
            },
            Operation("move a member from its owner to another", startingWith: .notes) { store, _ in
                let notes = try store.fetchNotes()
                let other = Folder(context: store.context)
                return { for note in notes { note.folder = other } }
            },
            Operation("walk the members of an owner", startingWith: .notes) { store, _ in
                let folder = try store.fetchFolder()
                return { for note in folder?.notes ?? [] { _ = note.position } }
            },
            Operation("follow a member to its owner", forEach: { _ = $0.folder }),
        ]
    }
}
