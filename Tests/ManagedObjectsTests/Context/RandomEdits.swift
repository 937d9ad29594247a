import Foundation

@testable import EngineTesting

@testable import ManagedObjects

/// Random changes to a graph over `NotesModel`, each made both in a context and in dictionaries.
struct RandomEdits {
    var random: SeededGenerator
    /// The changes so far, for the message of a failure.
    var log: [String] = []
    private var nextNumber: Int

    init(seed: UInt64, firstNumber: Int = 1) {
        random = SeededGenerator(seed: seed)
        nextNumber = firstNumber
    }

    private mutating func pick(_ numbers: some Sequence<Int>) -> Int? {
        numbers.sorted().randomElement(using: &random)
    }

    private mutating func number() -> Int {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// Makes one change, in a context and in dictionaries.
    mutating func change(_ mirror: inout GraphMirror, in context: NSManagedObjectContext) throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1:
            let new = number()
            log.append("insert note \(new)")
            mirror.notes[new] = "new"
            _ = context.insert("Note", ["count": new, "title": "new"])
        case 2, 3:
            let new = number()
            let note = pick(mirror.notes.keys)
            log.append("insert item \(new) into \(note ?? 0)")
            mirror.items[new] = "new"
            mirror.move(item: new, to: note)
            let item = context.insert(new % 3 == 0 ? "SpecialItem" : "Item", ["index": new, "name": "new"])
            if let note { item.setValue(try context.numbered("Note", note), forKey: "note") }
        case 4:
            let new = number()
            log.append("insert tag, folder \(new)")
            mirror.tags.insert(new)
            mirror.folders.insert(new)
            _ = context.insert("Tag", ["name": "\(new)"])
            _ = context.insert("Folder", ["name": "\(new)"])
        case 5, 6:
            guard let note = pick(mirror.notes.keys), let item = pick(mirror.items.keys) else { return }
            let title = "\(number())"
            log.append("title of \(note), name of \(item)")
            mirror.notes[note] = title
            mirror.items[item] = title
            try context.numbered("Note", note).setValue(title, forKey: "title")
            try context.numbered("Item", item).setValue(title, forKey: "name")
        case 7, 8:
            guard let item = pick(mirror.items.keys) else { return }
            let note = Int.random(in: 0..<4, using: &random) == 0 ? nil : pick(mirror.notes.keys)
            log.append("note of item \(item) = \(note ?? 0)")
            mirror.move(item: item, to: note)
            try context.numbered("Item", item)
                .setValue(note.map { try context.numbered("Note", $0) }, forKey: "note")
        case 9, 10: try place(&mirror, in: context)
        case 11, 12:
            guard let item = pick(mirror.items.keys), let tag = pick(mirror.tags) else { return }
            let isThere = Int.random(in: 0..<3, using: &random) > 0
            log.append("tag \(tag) of item \(item): \(isThere)")
            mirror.setTag(tag, of: item, isThere: isThere)
            let (object, other) = (try context.numbered("Item", item), try context.numbered("Tag", tag))
            let fromItem = Bool.random(using: &random)
            let set = fromItem ? object.mutableSetValue(forKey: "tags") : other.mutableSetValue(forKey: "items")
            isThere ? set.add(fromItem ? other : object) : set.remove(fromItem ? other : object)
        case 13:
            guard let one = pick(mirror.notes.keys), let other = pick(mirror.notes.keys) else { return }
            let isThere = Bool.random(using: &random)
            log.append("\(one) related to \(other): \(isThere)")
            if isThere { mirror.related.insert([one, other]) } else { mirror.related.remove([one, other]) }
            let set = try context.numbered("Note", one).mutableSetValue(forKey: "related")
            let member = try context.numbered("Note", other)
            isThere ? set.add(member) : set.remove(member)
        case 14:
            guard let note = pick(mirror.notes.keys) else { return }
            let item = Int.random(in: 0..<4, using: &random) == 0 ? nil : pick(mirror.items.keys)
            log.append("cover of \(note) = \(item ?? 0)")
            mirror.setCover(item, of: note)
            if let item, Bool.random(using: &random) {
                try context.numbered("Item", item).setValue(context.numbered("Note", note), forKey: "coverOf")
            } else {
                try context.numbered("Note", note)
                    .setValue(item.map { try context.numbered("Item", $0) }, forKey: "cover")
            }
        case 15:
            guard let note = pick(mirror.notes.keys), let folder = pick(mirror.folders) else { return }
            log.append("folder of \(note) = \(folder)")
            mirror.folderOfNote[note] = folder
            try context.numbered("Note", note).setValue(context.numbered("Folder", folder), forKey: "folder")
        case 16:
            guard let folder = pick(mirror.folders), let parent = pick(mirror.folders) else { return }
            log.append("parent of \(folder) = \(parent)")
            mirror.parentOfFolder[folder] = parent
            try context.numbered("Folder", folder).setValue(context.numbered("Folder", parent), forKey: "parent")
        default: try delete(&mirror, in: context)
        }
    }

    /// Moves an item to a position of a note, or removes it.
    private mutating func place(_ mirror: inout GraphMirror, in context: NSManagedObjectContext) throws {
        guard let note = pick(mirror.notes.keys), let item = pick(mirror.items.keys) else { return }
        let set = try context.numbered("Note", note).mutableOrderedSetValue(forKey: "items")
        let object = try context.numbered("Item", item)
        var list = mirror.itemsOfNote[note] ?? []
        if let index = list.firstIndex(of: item) {
            if Bool.random(using: &random) {
                log.append("item \(item) out of \(note)")
                mirror.move(item: item, to: nil)
                set.remove(object)
            } else {
                let place = Int.random(in: 0..<list.count, using: &random)
                log.append("item \(item) of \(note) moves to \(place)")
                list.remove(at: index)
                list.insert(item, at: place)
                mirror.itemsOfNote[note] = list
                set.moveObjects(at: IndexSet(integer: index), to: place)
            }
        } else {
            let place = Int.random(in: 0...list.count, using: &random)
            log.append("item \(item) into \(note) at \(place)")
            mirror.move(item: item, to: note, at: place)
            set.insert(object, at: place)
        }
    }

    private mutating func delete(_ mirror: inout GraphMirror, in context: NSManagedObjectContext) throws {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            guard let note = pick(mirror.notes.keys) else { return }
            log.append("delete note \(note)")
            mirror.delete(note: note)
            context.delete(try context.numbered("Note", note))
        case 1:
            guard let item = pick(mirror.items.keys) else { return }
            log.append("delete item \(item)")
            mirror.delete(item: item)
            context.delete(try context.numbered("Item", item))
        case 2:
            guard let tag = pick(mirror.tags) else { return }
            log.append("delete tag \(tag)")
            mirror.delete(tag: tag)
            context.delete(try context.numbered("Tag", tag))
        default:
            let full = Set(mirror.folderOfNote.values)
            let tree = mirror
            guard let folder = pick(mirror.folders.filter { tree.subtree(of: $0).isDisjoint(with: full) }) else {
                return
            }
            log.append("delete folder \(folder)")
            mirror.delete(folder: folder)
            context.delete(try context.numbered("Folder", folder))
        }
    }
}
