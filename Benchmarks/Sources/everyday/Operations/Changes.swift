import CoreData
import Foundation

private let medium = [1000, 10_000, 100_000]
/// For what grew faster than the work beyond 16,000.
private let large = [4000, 16000, 64000]

/// Inserting, changing, deleting, saving, undoing and merging.
let changes: [Operation] = [
    Operation("insert-save", "n objects inserted, one save", sizes: medium) { count, meter in
        let scene = try Scene()
        try meter.measure { try scene.notes(count) }
        let raw = scene.raw()
        meter.measureRaw {
            raw.inTransaction {
                for index in 0..<count {
                    raw.run(
                        "INSERT INTO ZNOTE(Z_ENT, Z_OPT, ZNUMBER, ZTITLE, ZSIZE) VALUES(3, 1, ?, ?, ?)", index,
                        "Note \(index % 1000)", index % 100)
                }
            }
        }
    },
    Operation("insert-save-each", "n objects inserted, a save after each", sizes: [250, 1000, 4000]) { count, meter in
        let scene = try Scene()
        try meter.measure {
            for index in 0..<count {
                _ = scene.make("Note", ["number": index])
                try scene.context.save()
            }
        }
        let raw = scene.raw()
        meter.measureRaw {
            for index in 0..<count {
                raw.inTransaction {
                    raw.run("INSERT INTO ZNOTE(Z_ENT, Z_OPT, ZNUMBER) VALUES(3, 1, ?)", index)
                    raw.run("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'Note'")
                }
            }
        }
    },
    Operation("update-save", "one value of n objects changed, one save", sizes: medium) { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        try meter.measure {
            for note in notes { note.setValue("changed", forKey: "title") }
            try scene.context.save()
        }
        let raw = scene.raw()
        meter.measureRaw {
            raw.inTransaction {
                for key in 1...count {
                    raw.run("UPDATE ZNOTE SET ZTITLE = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", "again", key)
                }
            }
        }
    },
    Operation("update-one", "one of n registered objects changed and saved, a hundred times", sizes: medium) {
        count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        try meter.measure {
            for index in 0..<100 {
                notes[index].setValue("changed", forKey: "title")
                try scene.context.save()
            }
        }
        let raw = scene.raw()
        meter.measureRaw {
            for key in 1...100 {
                raw.inTransaction {
                    raw.run("UPDATE ZNOTE SET ZTITLE = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", "again", key)
                }
            }
        }
    },
    Operation("delete-save", "n objects deleted, one save", sizes: medium) { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        try meter.measure {
            for note in notes { scene.context.delete(note) }
            try scene.context.save()
        }
        try scene.fill(count)
        let raw = scene.raw()
        meter.measureRaw {
            raw.inTransaction { for key in 1...count { raw.run("DELETE FROM ZNOTE WHERE Z_PK = ?", count + key) } }
        }
    },
    Operation("find-or-create", "n times an object found by a value or created, one save") { count, meter in
        let scene = try Scene()
        try meter.measure {
            for index in 0..<count where try scene.fetch("title == %@", ["\(index / 2)"]).isEmpty {
                _ = scene.make("Note", ["title": "\(index / 2)"])
            }
            try scene.context.save()
        }
    },
    Operation("find-or-create-indexed", "the same by an attribute with an index") { count, meter in
        let scene = try Scene()
        try meter.measure {
            for index in 0..<count where try scene.fetch("number == %@", [index / 2]).isEmpty {
                _ = scene.make("Note", ["number": index / 2])
            }
            try scene.context.save()
        }
        let raw = scene.raw()
        meter.measureRaw {
            raw.inTransaction {
                for index in 0..<count where raw.run("SELECT * FROM ZNOTE WHERE ZNUMBER = ?", -1 - index / 2) == 0 {
                    raw.run("INSERT INTO ZNOTE(Z_ENT, Z_OPT, ZNUMBER) VALUES(3, 1, ?)", -1 - index / 2)
                }
            }
        }
    },
    Operation("siblings", "n children of one context, each of which saves one object into it") { count, meter in
        let scene = try Scene()
        try meter.measure {
            for index in 0..<count {
                let child = scene.child()
                NSEntityDescription.insertNewObject(forEntityName: "Note", into: child).setValue(
                    index, forKey: "number")
                try child.save()
            }
            try scene.context.save()
        }
    },
    Operation("child-save", "n changes in a child, saved into the parent and the store") { count, meter in
        let scene = try Scene()
        let ids = try scene.notes(count).map(\.objectID)
        let child = scene.child()
        try meter.measure {
            for id in ids { child.object(with: id).setValue("changed", forKey: "title") }
            try child.save()
            try scene.context.save()
        }
    },
    Operation("rollback", "n changes withdrawn") { count, meter in
        let scene = try Scene()
        for note in try scene.notes(count) { note.setValue("changed", forKey: "title") }
        meter.measure { scene.context.rollback() }
    },
    Operation("refresh-all", "n objects refreshed, of which one has changed", sizes: medium) { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        notes[0].setValue("changed", forKey: "title")
        meter.measure { scene.context.refreshAllObjects() }
        withExtendedLifetime(notes) {}
    },
    Operation("undo-inserts", "n inserts undone in one step") { count, meter in
        let scene = try Scene()
        scene.context.undoManager = UndoManager()
        _ = (0..<count).map { scene.make("Note", ["number": $0]) }
        scene.context.processPendingChanges()
        meter.measure { scene.context.undo() }
    },
    Operation("undo-deletes", "n deletions of members undone in one step") { count, meter in
        let scene = try Scene()
        let folder = scene.make("Folder")
        let notes = try scene.notes(count, in: folder)
        scene.context.undoManager = UndoManager()
        for note in notes { scene.context.delete(note) }
        scene.context.processPendingChanges()
        meter.measure { scene.context.undo() }
    },
    Operation("undo-links", "n settings of a to-one relationship undone in one step") { count, meter in
        let scene = try Scene()
        let folder = scene.make("Folder")
        let notes = try scene.notes(count)
        scene.context.undoManager = UndoManager()
        for note in notes { note.setValue(folder, forKey: "folder") }
        scene.context.processPendingChanges()
        meter.measure { scene.context.undo() }
    },
    Operation("undo-steps", "n steps of one change, made and undone") { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(100)
        try steps(count, scene, meter) { notes[$0 % 100].setValue($0, forKey: "number") }
    },
    Operation("undo-steps-members", "n steps of one member more, made and undone", sizes: large) { count, meter in
        let scene = try Scene()
        let folder = scene.make("Folder")
        let notes = try scene.notes(count)
        try steps(count, scene, meter) { notes[$0].setValue(folder, forKey: "folder") }
    },
    Operation("undo-steps-ordered", "n steps of one ordered member more, made and undone", sizes: large) {
        count, meter in
        let scene = try Scene()
        let note = scene.make("Note")
        try scene.context.save()
        try steps(count, scene, meter) {
            note.mutableOrderedSetValue(forKey: "lines").add(scene.make("Line", ["text": "\($0)"]))
        }
    },
    Operation("derived", "n members of an owner that counts and sums them, one save") { count, meter in
        let scene = try Scene(Library.derivingModel())
        let folder = scene.make("Folder")
        try scene.context.save()
        try meter.measure { try scene.notes(count, in: folder) }
    },
    Operation("derived-owners", "one member of each of n owners that count it, one save") { count, meter in
        let scene = try Scene(Library.derivingModel())
        let folders = (0..<count).map { _ in scene.make("Folder") }
        try scene.context.save()
        try meter.measure {
            for folder in folders { _ = scene.make("Note", ["size": 1, "folder": folder]) }
            try scene.context.save()
        }
    },
    Operation("not-derived", "n members of an owner, one save") { count, meter in
        let scene = try Scene()
        let folder = scene.make("Folder")
        try scene.context.save()
        try meter.measure { try scene.notes(count, in: folder) }
    },
    Operation("merge-links", "n/5 changes merged into n unsaved edits of relationships") { count, meter in
        let scene = try Scene()
        let (one, other) = (scene.make("Folder"), scene.make("Folder"))
        let notes = try scene.notes(count, in: one)
        for note in notes { note.setValue(other, forKey: "folder") }
        try merge(count / 5, of: notes, scene, meter)
    },
    Operation("merge-edits", "n/5 changes merged into n unsaved edits of values") { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        for note in notes { note.setValue(-1, forKey: "number") }
        try merge(count / 5, of: notes, scene, meter)
    },
    Operation("merge-one", "one change merged into a context with n unsaved edits", sizes: medium) { count, meter in
        let scene = try Scene()
        let folder = scene.make("Folder")
        let notes = try scene.notes(count, in: folder)
        for note in notes { note.setValue(-1, forKey: "number") }
        try merge(1, of: notes, scene, meter)
    },
    Operation("merge-clean", "n changes merged into a context without edits", sizes: medium) { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        try merge(count, of: notes, scene, meter)
    },
    Operation("merge-members", "100 members more, each saved and merged into a context with n members", sizes: medium) {
        count, meter in
        let scene = try Scene()
        let folder = scene.make("Folder")
        let notes = try scene.notes(count, in: folder)
        try scene.context.save()
        _ = (folder.value(forKey: "notes") as? NSSet)?.count
        scene.make("Note").setValue(folder, forKey: "folder")
        let writer = scene.anotherContext()
        let owner = writer.object(with: folder.objectID)
        try meter.measure {
            for _ in 0..<100 {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: writer)
                note.setValue(owner, forKey: "folder")
                try writer.save()
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [
                        NSInsertedObjectsKey: [note.objectID], NSUpdatedObjectsKey: [owner.objectID],
                    ], into: [scene.context])
            }
        }
        withExtendedLifetime(notes) {}
    },
    Operation("unique-moves", "n unique values that change places, the store wins", sizes: [250, 1000, 4000]) {
        count, meter in
        let scene = try Scene(Library.uniqueModel())
        let accounts = (0..<count).map { scene.make("Account", ["name": "account \($0)"]) }
        try scene.context.save()
        scene.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        try meter.measure {
            for (index, account) in accounts.enumerated() {
                account.setValue("account \((index + 1) % count)", forKey: "name")
            }
            try scene.context.save()
        }
    },
    Operation("unique-upsert", "n objects whose unique values are stored, the new ones win", sizes: large) {
        count, meter in
        let scene = try Scene(Library.uniqueModel())
        for index in 0..<count { _ = scene.make("Account", ["name": "account \(index)"]) }
        try scene.context.save()
        scene.context.reset()
        scene.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try meter.measure {
            for index in 0..<count { _ = scene.make("Account", ["name": "account \(index)", "size": index]) }
            try scene.context.save()
        }
    },
    Operation("conflicts", "n conflicts resolved by property, one save", sizes: large) { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        let writer = scene.anotherContext()
        for note in notes { writer.object(with: note.objectID).setValue(7, forKey: "size") }
        try writer.save()
        scene.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try meter.measure {
            for note in notes { note.setValue("mine", forKey: "title") }
            try scene.context.save()
        }
    },
    Operation("batch-insert", "n rows by a batch insertion", sizes: medium) { count, meter in
        let scene = try Scene()
        try meter.measure { try scene.fill(count) }
        let raw = scene.raw()
        meter.measureRaw {
            raw.inTransaction {
                for index in 0..<count {
                    raw.run(
                        "INSERT INTO ZNOTE(Z_ENT, Z_OPT, ZNUMBER, ZTITLE, ZSIZE) VALUES(3, 1, ?, ?, ?)", index,
                        "Note \(index % 1000)", index % 100)
                }
            }
        }
    },
    Operation("batch-update", "n rows by a batch update", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        let request = NSBatchUpdateRequest(entityName: "Note")
        request.propertiesToUpdate = ["title": "changed"]
        _ = try meter.measure { try scene.context.execute(request) }
        let raw = scene.raw()
        meter.measureRaw { raw.run("UPDATE ZNOTE SET ZTITLE = 'again', Z_OPT = Z_OPT + 1") }
    },
    Operation("batch-delete", "n rows by a batch deletion", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Note"))
        _ = try meter.measure { try scene.context.execute(request) }
        try scene.fill(count)
        let raw = scene.raw()
        meter.measureRaw { raw.run("DELETE FROM ZNOTE WHERE Z_PK > 0") }
    },
    Operation("history", "n saves read from the history", sizes: [100, 400, 1600]) { count, meter in
        let scene = try Scene(options: [NSPersistentHistoryTrackingKey: true])
        let note = scene.make("Note")
        for index in 0..<count {
            note.setValue(index, forKey: "number")
            try scene.context.save()
        }
        _ = try meter.measure {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try scene.context.execute(request) as! NSPersistentHistoryResult
            return (result.result as! [NSPersistentHistoryTransaction]).map { $0.changes?.count ?? 0 }
        }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT * FROM ATRANSACTION JOIN ACHANGE ON ZTRANSACTIONID = ATRANSACTION.Z_PK") }
    },
]

/// Makes steps of undo and undoes all.
private func steps(_ count: Int, _ scene: Scene, _ meter: Meter, _ change: (Int) -> Void) throws {
    let undo = UndoManager()
    undo.groupsByEvent = false
    scene.context.undoManager = undo
    meter.measure {
        for step in 0..<count {
            undo.beginUndoGrouping()
            change(step)
            scene.context.processPendingChanges()
            undo.endUndoGrouping()
        }
        for _ in 0..<count { scene.context.undo() }
    }
}

/// Changes notes in another context and merges that.
private func merge(_ count: Int, of notes: [NSManagedObject], _ scene: Scene, _ meter: Meter) throws {
    let writer = scene.anotherContext()
    let changed = notes.prefix(count).map(\.objectID)
    for id in changed { writer.object(with: id).setValue("changed", forKey: "title") }
    try writer.save()
    meter.measure {
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectIDsKey: changed], into: [scene.context])
    }
}
