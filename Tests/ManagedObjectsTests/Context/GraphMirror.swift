import Foundation
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// The graph of a context over `NotesModel`, as dictionaries of numbers, with which a context is compared.
struct GraphMirror: Equatable {
    /// Notes by number, with their titles; items with their names.
    var notes: [Int: String] = [:]
    var items: [Int: String] = [:]
    var tags: Set<Int> = []
    var folders: Set<Int> = []
    /// The items of a note in order; a note without items has no entry.
    var itemsOfNote: [Int: [Int]] = [:]
    var tagsOfItem: [Int: Set<Int>] = [:]
    var related: Set<[Int]> = []
    var coverOfNote: [Int: Int] = [:]
    var folderOfNote: [Int: Int] = [:]
    var parentOfFolder: [Int: Int] = [:]

    // MARK: - Edits, with the model's delete rules

    mutating func move(item: Int, to note: Int?, at position: Int? = nil) {
        let old = itemsOfNote.first { $0.value.contains(item) }?.key
        if old == note, position == nil { return }
        if let old { itemsOfNote[old] = Self.nonEmpty(itemsOfNote[old, default: []].filter { $0 != item }) }
        if let note {
            var list = itemsOfNote[note, default: []]
            list.insert(item, at: min(position ?? list.count, list.count))
            itemsOfNote[note] = list
        }
    }

    mutating func setCover(_ item: Int?, of note: Int) {
        if let item { coverOfNote = coverOfNote.filter { $0.value != item } }
        coverOfNote[note] = item
    }

    mutating func setTag(_ tag: Int, of item: Int, isThere: Bool) {
        var set = tagsOfItem[item, default: []]
        if isThere { set.insert(tag) } else { set.remove(tag) }
        tagsOfItem[item] = set.isEmpty ? nil : set
    }

    mutating func delete(item: Int) {
        move(item: item, to: nil)
        items[item] = nil
        tagsOfItem[item] = nil
        coverOfNote = coverOfNote.filter { $0.value != item }
    }

    mutating func delete(note: Int) {
        for item in itemsOfNote[note] ?? [] { delete(item: item) }
        notes[note] = nil
        coverOfNote[note] = nil
        folderOfNote[note] = nil
        related = related.filter { !$0.contains(note) }
    }

    mutating func delete(tag: Int) {
        tags.remove(tag)
        for item in tagsOfItem.keys { setTag(tag, of: item, isThere: false) }
    }

    /// A folder and its descendants.
    func subtree(of folder: Int) -> Set<Int> {
        var found: Set<Int> = [folder]
        while true {
            let more = parentOfFolder.filter { found.contains($0.value) && !found.contains($0.key) }.keys
            if more.isEmpty { return found }
            found.formUnion(more)
        }
    }

    mutating func delete(folder: Int) {
        for gone in subtree(of: folder) {
            folders.remove(gone)
            parentOfFolder = parentOfFolder.filter { $0.key != gone && $0.value != gone }
        }
    }

    private static func nonEmpty(_ list: [Int]) -> [Int]? { list.isEmpty ? nil : list }

    // MARK: - Reading a context

    init() {}

    /// The state of a context, each relationship read from its first side. `brokenInvariants()` checks the second.
    init(_ context: NSManagedObjectContext) throws {
        func number(_ object: NSManagedObject?) -> Int? {
            guard let object else { return nil }
            switch object.entity.name {
            case "Note": return object.value(forKey: "count") as? Int
            case "Item", "SpecialItem": return object.value(forKey: "index") as? Int
            default: return (object.value(forKey: "name") as? String).flatMap(Int.init)
            }
        }
        func numbers(_ value: Any?) -> [Int] {
            let objects = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
            return objects.compactMap { number($0 as? NSManagedObject) }
        }
        for note in try context.all("Note") {
            let own = try #require(number(note))
            notes[own] = note.value(forKey: "title") as? String ?? ""
            itemsOfNote[own] = Self.nonEmpty(numbers(note.value(forKey: "items")))
            for other in numbers(note.value(forKey: "related")) { related.insert([own, other]) }
            coverOfNote[own] = number(note.value(forKey: "cover") as? NSManagedObject)
            folderOfNote[own] = number(note.value(forKey: "folder") as? NSManagedObject)
        }
        for item in try context.all("Item") {
            let own = try #require(number(item))
            items[own] = item.value(forKey: "name") as? String ?? ""
            let set = Set(numbers(item.value(forKey: "tags")))
            if !set.isEmpty { tagsOfItem[own] = set }
        }
        tags = Set(try context.all("Tag").compactMap(number))
        for folder in try context.all("Folder") {
            let own = try #require(number(folder))
            folders.insert(own)
            parentOfFolder[own] = number(folder.value(forKey: "parent") as? NSManagedObject)
        }
    }
}

extension NSManagedObjectContext {
    /// The object with a number of `GraphMirror`.
    func numbered(_ entity: String, _ number: Int) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        switch entity {
        case "Note": request.predicate = NSPredicate(format: "count == %ld", number)
        case "Item": request.predicate = NSPredicate(format: "index == %ld", number)
        default: request.predicate = NSPredicate(format: "name == %@", "\(number)")
        }
        let found = try fetch(request)
        #expect(found.count == 1, "\(entity) \(number)")
        return try #require(found.first)
    }
}
