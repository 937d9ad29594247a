import CoreData
import Foundation

private let medium = [1000, 10_000, 100_000]

/// Following and changing relationships.
let relationships: [Operation] = [
    Operation("to-one", "a to-one relationship of n objects followed") { count, meter in
        let scene = try Scene()
        for index in 0..<count {
            _ = scene.make("Note", ["number": index, "folder": scene.make("Folder", ["name": "x"])])
        }
        try scene.context.save()
        scene.context.reset()
        let notes = try scene.fetch()
        meter.measure { for note in notes { _ = note.value(forKeyPath: "folder.name") } }
        let raw = scene.raw()
        meter.measureRaw { for key in 1...count { raw.run("SELECT * FROM ZFOLDER WHERE Z_PK = ?", key) } }
    },
    Operation("to-many", "a to-many relationship of n objects followed, one member each") { count, meter in
        let scene = try Scene()
        for index in 0..<count {
            _ = scene.make("Note", ["number": index, "folder": scene.make("Folder", ["name": "\(index)"])])
        }
        try scene.context.save()
        scene.context.reset()
        let folders = try scene.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Folder"))
        meter.measure { for folder in folders { _ = (folder.value(forKey: "notes") as! Set<NSManagedObject>).count } }
        let raw = scene.raw()
        meter.measureRaw { for key in 1...count { raw.run("SELECT Z_ENT, Z_PK FROM ZNOTE WHERE ZFOLDER = ?", key) } }
    },
    Operation("set-count", "a thousand times the number of n members", sizes: medium) { count, meter in
        let (scene, folder) = try folder(of: count)
        meter.measure { for _ in 0..<1000 { _ = (folder.value(forKey: "notes") as! NSSet).count } }
        withExtendedLifetime(scene) {}
    },
    Operation("set-contains", "a thousand times whether one of n members is in the set", sizes: medium) {
        count, meter in
        let (scene, folder) = try folder(of: count)
        let notes = Array(folder.value(forKey: "notes") as! Set<NSManagedObject>)
        meter.measure { for note in notes.prefix(1000) { _ = folder.mutableSetValue(forKey: "notes").contains(note) } }
        withExtendedLifetime(scene) {}
    },
    Operation("set-key-path", "notes.@count and notes.@sum.size of n members", sizes: medium) { count, meter in
        let (scene, folder) = try folder(of: count)
        meter.measure { _ = (folder.value(forKeyPath: "notes.@count"), folder.value(forKeyPath: "notes.@sum.size")) }
        withExtendedLifetime(scene) {}
    },
    Operation("add-members", "n members added one by one, not saved") { count, meter in
        let scene = try Scene()
        let folder = scene.make("Folder")
        let notes = try scene.notes(count)
        meter.measure { for note in notes { folder.mutableSetValue(forKey: "notes").add(note) } }
    },
    Operation("ordered-add", "n members added one by one to an ordered relationship") { count, meter in
        let scene = try Scene()
        let note = scene.make("Note")
        let lines = (0..<count).map { scene.make("Line", ["text": "\($0)"]) }
        meter.measure { for line in lines { note.mutableOrderedSetValue(forKey: "lines").add(line) } }
    },
    Operation("ordered-remove", "n members removed one by one from the end of an ordered relationship") { count, meter in
        let (scene, note) = try note(of: count)
        let lines = note.mutableOrderedSetValue(forKey: "lines")
        let members = lines.array
        meter.measure { for line in members.reversed() { lines.remove(line) } }
        withExtendedLifetime(scene) {}
    },
    Operation("ordered-subscript", "each of n ordered members by its index") { count, meter in
        let (scene, note) = try note(of: count)
        meter.measure {
            for index in 0..<count { _ = (note.value(forKey: "lines") as! NSOrderedSet).object(at: index) }
        }
        withExtendedLifetime(scene) {}
    },
    Operation("ordered-move", "a hundred times the last of n ordered members moved to the front", sizes: medium) {
        count, meter in
        let (scene, note) = try note(of: count)
        meter.measure {
            for _ in 0..<100 {
                let lines = note.mutableOrderedSetValue(forKey: "lines")
                lines.moveObjects(at: IndexSet(integer: count - 1), to: 0)
            }
        }
        withExtendedLifetime(scene) {}
    },
    Operation("ordered-append", "ten times one member at the end, and a save", sizes: medium) { count, meter in
        let (scene, note) = try note(of: count)
        try meter.measure {
            for _ in 0..<10 {
                note.mutableOrderedSetValue(forKey: "lines").add(scene.make("Line", ["text": "last"]))
                try scene.context.save()
            }
        }
        let raw = scene.raw()
        meter.measureRaw {
            for index in 0..<10 {
                raw.inTransaction {
                    raw.run(
                        "INSERT INTO ZLINE(Z_ENT, Z_OPT, ZNOTE, Z_FOK_NOTE, ZTEXT) VALUES(2, 1, 1, ?, 'last')", index)
                    raw.run("UPDATE ZNOTE SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
                }
            }
        }
    },
    Operation("ordered-insert-first", "ten times one member at the front, and a save", sizes: medium) { count, meter in
        let (scene, note) = try note(of: count)
        try meter.measure {
            for _ in 0..<10 {
                note.mutableOrderedSetValue(forKey: "lines").insert(scene.make("Line", ["text": "first"]), at: 0)
                try scene.context.save()
            }
        }
    },
    Operation("many-add", "ten times one tag more for an object of n loaded tags, and a save", sizes: medium) {
        count, meter in
        let (scene, note) = try tagged(by: count)
        try meter.measure {
            for _ in 0..<10 {
                note.mutableSetValue(forKey: "tags").add(scene.make("Tag", ["name": "last"]))
                try scene.context.save()
            }
        }
        let raw = scene.raw()
        meter.measureRaw {
            for index in 0..<10 {
                raw.inTransaction {
                    raw.run("INSERT INTO ZTAG(Z_ENT, Z_OPT, ZNAME) VALUES(4, 1, 'last')")
                    raw.run("INSERT INTO Z_3TAGS(Z_3NOTES, Z_4TAGS) VALUES(1, ?)", 10_000_000 + index)
                    raw.run("UPDATE ZNOTE SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
                }
            }
        }
    },
    Operation("many-remove", "ten times one tag less, and a save", sizes: medium) { count, meter in
        let (scene, note) = try tagged(by: count)
        let tags = Array((note.value(forKey: "tags") as! Set<NSManagedObject>).prefix(10))
        try meter.measure {
            for tag in tags {
                note.mutableSetValue(forKey: "tags").remove(tag)
                try scene.context.save()
            }
        }
    },
    Operation("any-equal", "objects of which any tag equals one", sizes: medium) { count, meter in
        let (scene, tag) = try shared(count)
        _ = try meter.measure { try scene.fetch("ANY tags == %@", [tag]) }
        let raw = scene.raw()
        meter.measureRaw {
            raw.run("SELECT * FROM ZNOTE WHERE Z_PK IN (SELECT Z_3NOTES FROM Z_3TAGS WHERE Z_4TAGS = 1)")
        }
    },
    Operation("contains-object", "objects whose tags contain one", sizes: medium) { count, meter in
        let (scene, tag) = try shared(count)
        _ = try meter.measure { try scene.fetch("tags CONTAINS %@", [tag]) }
        let raw = scene.raw()
        meter.measureRaw {
            raw.run("SELECT * FROM ZNOTE WHERE Z_PK IN (SELECT Z_3NOTES FROM Z_3TAGS WHERE Z_4TAGS = 1)")
        }
    },
    Operation("any-name", "objects of which any tag has a name", sizes: medium) { count, meter in
        let (scene, _) = try shared(count)
        _ = try meter.measure { try scene.fetch("ANY tags.name == %@", ["rare"]) }
        let raw = scene.raw()
        meter.measureRaw {
            raw.run(
                "SELECT * FROM ZNOTE WHERE Z_PK IN (SELECT Z_3NOTES FROM Z_3TAGS JOIN ZTAG ON Z_PK = Z_4TAGS WHERE ZNAME = 'rare')"
            )
        }
    },
    Operation("cascade-ordered", "an object and its n ordered members deleted and saved") { count, meter in
        let (scene, note) = try note(of: count)
        try meter.measure {
            scene.context.delete(note)
            try scene.context.save()
        }
        withExtendedLifetime(scene) {}
    },
    Operation("unlink-ordered", "n ordered members deleted one by one, and a save") { count, meter in
        let (scene, note) = try note(of: count)
        let lines = (note.value(forKey: "lines") as! NSOrderedSet).array as! [NSManagedObject]
        try meter.measure {
            for line in lines { scene.context.delete(line) }
            try scene.context.save()
        }
    },
    Operation("cascade-set", "an object and its n members deleted and saved") { count, meter in
        let (scene, folder) = try folder(of: count)
        try meter.measure {
            scene.context.delete(folder)
            try scene.context.save()
        }
        let raw = scene.raw()
        _ = try scene.notes(count)
        meter.measureRaw {
            raw.inTransaction { for key in 1...count { raw.run("DELETE FROM ZNOTE WHERE Z_PK = ?", count + key) } }
        }
    },
    Operation("reverse-to-ones", "n to-one relationships set from one object to another, and a save") { count, meter in
        let (scene, folder) = try folder(of: count)
        let other = scene.make("Folder")
        let notes = Array(folder.value(forKey: "notes") as! Set<NSManagedObject>)
        try meter.measure {
            for note in notes { note.setValue(other, forKey: "folder") }
            try scene.context.save()
        }
        let raw = scene.raw()
        meter.measureRaw {
            raw.inTransaction {
                for key in 1...count { raw.run("UPDATE ZNOTE SET ZFOLDER = 1, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", key) }
            }
        }
    },
    Operation("prefetch", "n objects with their prefetched tags", sizes: [100, 1000, 10_000]) { count, meter in
        let scene = try Scene()
        let tags = (0..<20).map { scene.make("Tag", ["name": "\($0)"]) }
        for (index, note) in try scene.notes(count).enumerated() {
            note.setValue(Set([tags[index % 20], tags[(index + 7) % 20]]), forKey: "tags")
        }
        try scene.context.save()
        scene.context.reset()
        try meter.measure {
            for note in try scene.fetch(nil, [], in: nil, { $0.relationshipKeyPathsForPrefetching = ["tags"] }) {
                _ = (note.value(forKey: "tags") as! Set<NSManagedObject>).count
            }
        }
        let raw = scene.raw()
        meter.measureRaw {
            raw.run("SELECT * FROM ZNOTE")
            raw.run("SELECT Z_3NOTES, ZTAG.* FROM Z_3TAGS JOIN ZTAG ON Z_PK = Z_4TAGS")
        }
    },
]

/// A folder of n notes, saved and loaded.
private func folder(of count: Int) throws -> (Scene, NSManagedObject) {
    let scene = try Scene()
    let folder = scene.make("Folder")
    try scene.notes(count, in: folder)
    _ = (folder.value(forKey: "notes") as! NSSet).count
    return (scene, folder)
}

/// A note of n ordered lines, saved and loaded.
private func note(of count: Int) throws -> (Scene, NSManagedObject) {
    let scene = try Scene()
    let note = scene.make("Note")
    let lines = note.mutableOrderedSetValue(forKey: "lines")
    for index in 0..<count { lines.add(scene.make("Line", ["text": "\(index)"])) }
    try scene.context.save()
    _ = lines.count
    return (scene, note)
}

/// A note of n tags, saved and loaded.
private func tagged(by count: Int) throws -> (Scene, NSManagedObject) {
    let scene = try Scene()
    let note = scene.make("Note")
    let tags = note.mutableSetValue(forKey: "tags")
    for index in 0..<count { tags.add(scene.make("Tag", ["name": "\(index)"])) }
    try scene.context.save()
    _ = tags.count
    return (scene, note)
}

/// Notes with three tags each, of which ten have the tag that is returned.
private func shared(_ count: Int) throws -> (Scene, NSManagedObject) {
    let scene = try Scene()
    let rare = scene.make("Tag", ["name": "rare"])
    try scene.context.obtainPermanentIDs(for: [rare])
    let tags = (0..<50).map { scene.make("Tag", ["name": "tag \($0)"]) }
    for (index, note) in try scene.notes(count).enumerated() {
        var chosen = Set([tags[index % 50], tags[(index * 7 + 1) % 50], tags[(index * 11 + 2) % 50]])
        if index < 10 { chosen.insert(rare) }
        note.setValue(chosen, forKey: "tags")
    }
    try scene.context.save()
    scene.context.reset()
    return (scene, scene.context.object(with: rare.objectID))
}
