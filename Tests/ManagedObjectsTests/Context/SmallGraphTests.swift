import Foundation
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

@Suite("Every small graph, and many long histories")
struct SmallGraphTests {
    /// Two entities and the four kinds of relationship between them.
    private static func model(many: Bool, inverseMany: Bool) -> NSManagedObjectModel {
        let one = NotesModel.entity("A", [NotesModel.attribute("name", .integer32AttributeType)])
        let other = NotesModel.entity("B", [NotesModel.attribute("name", .integer32AttributeType)])
        NotesModel.relate(one, "bs", many: many, other, "as", many: inverseMany, rule: .nullifyDeleteRule)
        let model = NSManagedObjectModel()
        model.entities = [one, other]
        return model
    }

    @Test(arguments: [(false, false), (true, false), (false, true), (true, true)])
    func `every sequence of three edits keeps both sides consistent`(many: Bool, inverseMany: Bool) throws {
        let stack = try TestStack(model: Self.model(many: many, inverseMany: inverseMany))
        let edits = (0..<2).flatMap { a in (0..<2).flatMap { b in [true, false].map { (a, b, $0) } } }
        for first in edits {
            for second in edits {
                for third in edits {
                    let context = stack.context()
                    let sources = (0..<2).map { context.insert("A", ["name": $0]) }
                    let targets = (0..<2).map { context.insert("B", ["name": $0]) }
                    var twin: Set<[Int]> = []
                    for (source, target, connects) in [first, second, third] {
                        edit(sources[source], targets[target], connects: connects, many: many)
                        if connects {
                            if !many { twin = twin.filter { $0[0] != source } }
                            if !inverseMany { twin = twin.filter { $0[1] != target } }
                            twin.insert([source, target])
                        } else if many || twin.contains([source, target]) {
                            twin.remove([source, target])
                        }
                    }
                    let label = "\(first) \(second) \(third)"
                    #expect(context.brokenInvariants() == [], "\(label)")
                    #expect(pairs(of: sources, targets, many: many) == twin, "\(label)")
                    context.reset()
                }
            }
        }
    }

    private func edit(_ source: NSManagedObject, _ target: NSManagedObject, connects: Bool, many: Bool) {
        if many {
            let set = source.mutableSetValue(forKey: "bs")
            connects ? set.add(target) : set.remove(target)
        } else if connects {
            source.setValue(target, forKey: "bs")
        } else if source.value(forKey: "bs") as? NSManagedObject === target {
            source.setValue(nil, forKey: "bs")
        }
    }

    private func pairs(of sources: [NSManagedObject], _ targets: [NSManagedObject], many: Bool) -> Set<[Int]> {
        var result: Set<[Int]> = []
        for (index, source) in sources.enumerated() {
            let value = source.value(forKey: "bs")
            let members = (value as? NSSet)?.allObjects ?? value.map { [$0] } ?? []
            for case let member as NSManagedObject in members {
                if let target = targets.firstIndex(where: { $0 === member }) { result.insert([index, target]) }
            }
        }
        return result
    }

    @Test(arguments: [UInt64(1), 2, 3], [NSSQLiteStoreType, NSInMemoryStoreType])
    func `a context behaves like a dictionary`(seed: UInt64, type: String) throws {
        var random = SeededGenerator(seed: seed)
        let stack = try TestStack(type: type)
        var context = stack.context()
        var values: [Int: Int] = [:]
        var owner: [Int: Int] = [:]
        var folders: Set<Int> = []
        var nextName = 0
        var saved = (values, owner, folders)
        func object(_ entity: String, _ name: Int) throws -> NSManagedObject? {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(
                format: entity == "Note" ? "small == %d" : "name == %@", entity == "Note" ? name : "\(name)")
            return try context.fetch(request).first
        }
        for step in 0..<400 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1:
                _ = context.insert("Note", ["small": nextName, "count": step])
                values[nextName] = step
                nextName += 1
            case 2:
                _ = context.insert("Folder", ["name": "\(nextName)"])
                folders.insert(nextName)
                nextName += 1
            case 3, 4, 5:
                guard let name = values.keys.sorted().randomElement(using: &random) else { continue }
                try object("Note", name)?.setValue(step, forKey: "count")
                values[name] = step
            case 6, 7:
                guard let name = values.keys.sorted().randomElement(using: &random),
                    let folder = folders.sorted().randomElement(using: &random)
                else { continue }
                try object("Note", name)?.setValue(try object("Folder", folder), forKey: "folder")
                owner[name] = folder
            case 8:
                guard let name = values.keys.sorted().randomElement(using: &random) else { continue }
                if let note = try object("Note", name) { context.delete(note) }
                values[name] = nil
                owner[name] = nil
            case 9:
                try context.save()
                saved = (values, owner, folders)
            case 10:
                context.rollback()
                (values, owner, folders) = saved
            default:
                try context.save()
                saved = (values, owner, folders)
                context = stack.context()
            }
            #expect(context.brokenInvariants() == [], "seed \(seed), step \(step)")
        }
        let notes = try context.all("Note")
        var readValues: [Int: Int] = [:]
        var readOwner: [Int: Int] = [:]
        for note in notes {
            let name = note.value(forKey: "small") as? Int ?? -1
            readValues[name] = note.value(forKey: "count") as? Int
            if let folder = note.value(forKey: "folder") as? NSManagedObject {
                readOwner[name] = Int(folder.value(forKey: "name") as? String ?? "")
            }
        }
        #expect(readValues == values)
        #expect(readOwner == owner)
    }
}
