import CoreData
import Foundation

private let large = [10_000, 100_000, 1_000_000]
private let medium = [1000, 10_000, 100_000]

/// Reading: fetches, counts, faults.
let fetching: [Operation] = [
    Operation("fetch-limit", "20 objects by an indexed attribute", sizes: large) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        try firstTwenty(scene, count, meter)
    },
    Operation("fetch-limit-unsaved", "the same while a change is unsaved", sizes: large) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        try scene.fetch("number == 3")[0].setValue("changed", forKey: "title")
        try firstTwenty(scene, count, meter)
    },
    Operation("fetch-limit-child", "the same in a child context", sizes: large) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        try scene.fetch("number == 3")[0].setValue("changed", forKey: "title")
        let child = scene.child()
        try meter.measure {
            for _ in 0..<20 {
                try scene.fetch("number >= %@", [count / 2], in: child) {
                    $0.sortDescriptors = byNumber; $0.fetchLimit = 20
                }
            }
        }
    },
    Operation("requests", "n requests at once, each with a context and ten objects") { count, meter in
        let scene = try Scene()
        try scene.fill(10_000)
        let contexts = (0..<count).map { _ in
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = scene.coordinator
            return context
        }
        let ended = DispatchGroup()
        meter.measure {
            for (number, context) in contexts.enumerated() {
                ended.enter()
                context.perform {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                    request.predicate = NSPredicate(format: "number >= %d", number % 9000)
                    request.sortDescriptors = byNumber
                    request.fetchLimit = 10
                    for note in (try? context.fetch(request)) ?? [] { _ = note.value(forKey: "title") }
                    ended.leave()
                }
            }
            ended.wait()
        }
        let raw = scene.raw()
        meter.measureRaw {
            for number in 0..<count {
                raw.run("SELECT * FROM ZNOTE WHERE ZNUMBER >= ? ORDER BY ZNUMBER LIMIT 10", number % 9000)
            }
        }
    },
    Operation("count-unsaved", "a count while a change is unsaved", sizes: large) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        try scene.fetch("number == 3")[0].setValue("changed", forKey: "title")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "number >= %d", count / 2)
        _ = try meter.measure { try scene.context.count(for: request) }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT COUNT(*) FROM ZNOTE WHERE ZNUMBER >= ?", count / 2) }
    },
    Operation("fetch-ids-unsaved", "all IDs while a change is unsaved", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        try scene.fetch("number == 3")[0].setValue("changed", forKey: "title")
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
        request.resultType = .managedObjectIDResultType
        _ = try meter.measure { try scene.context.fetch(request) }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT Z_ENT, Z_PK FROM ZNOTE") }
    },
    Operation("fetch-all", "all objects and one value of each", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        try meter.measure { for note in try scene.fetch() { _ = note.value(forKey: "title") } }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT * FROM ZNOTE") }
    },
    Operation("fetch-one", "a thousand fetches of one object by an indexed attribute", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        try meter.measure { for number in 0..<1000 { try scene.fetch("number == %@", [number]) } }
        let raw = scene.raw()
        meter.measureRaw { for number in 0..<1000 { raw.run("SELECT * FROM ZNOTE WHERE ZNUMBER = ?", number) } }
    },
    Operation("fetch-page", "the first page of a batch size of 20", sizes: large) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        try meter.measure {
            let notes = try scene.fetch {
                $0.sortDescriptors = byNumber; $0.fetchBatchSize = 20
            }
            for note in notes.prefix(20) { _ = note.value(forKey: "title") }
        }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT Z_ENT, Z_PK FROM ZNOTE ORDER BY ZNUMBER") }
    },
    Operation("fetch-batches", "the same with objects that are created when they are asked for", sizes: large) {
        count, meter in
        let scene = try Scene()
        try scene.fill(count)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.sortDescriptors = byNumber
        var notes: FetchedBatches<NSManagedObject>?
        try meter.measure {
            let found = try scene.context.fetch(request, batchSize: 20)
            for note in found.prefix(20) { _ = note.value(forKey: "title") }
            notes = found
        }
        withExtendedLifetime(notes) {}
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT Z_ENT, Z_PK FROM ZNOTE ORDER BY ZNUMBER") }
    },
    Operation("fetch-scroll", "all pages of a batch size of 100", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        let notes =
            try scene.fetch {
                $0.sortDescriptors = byNumber; $0.fetchBatchSize = 100
            } as NSArray
        meter.measure {
            for index in 0..<notes.count { _ = (notes[index] as! NSManagedObject).value(forKey: "title") }
        }
    },
    Operation("fetch-offset", "a page of 20 at an offset of half of all", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        _ = try meter.measure {
            try scene.fetch {
                $0.sortDescriptors = byNumber; $0.fetchLimit = 20; $0.fetchOffset = count / 2
            }
        }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT * FROM ZNOTE ORDER BY ZNUMBER LIMIT 20 OFFSET ?", count / 2) }
    },
    Operation("fetch-dictionaries", "two values of each object as dictionaries", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        let request = NSFetchRequest<NSDictionary>(entityName: "Note")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title", "number"]
        _ = try meter.measure { try scene.context.fetch(request) }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT ZTITLE, ZNUMBER FROM ZNOTE") }
    },
    Operation("fetch-groups", "sums by a thousand titles", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        let sum = NSExpressionDescription()
        sum.name = "total"
        sum.expression = NSExpression(format: "@sum.size")
        sum.expressionResultType = .integer64AttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: "Note")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title", sum]
        request.propertiesToGroupBy = ["title"]
        _ = try meter.measure { try scene.context.fetch(request) }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT ZTITLE, SUM(ZSIZE) FROM ZNOTE GROUP BY ZTITLE") }
    },
    Operation("sort-localized", "20 objects by localizedStandardCompare", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        let order = NSSortDescriptor(
            key: "title", ascending: true, selector: NSSelectorFromString("localizedStandardCompare:"))
        _ = try meter.measure {
            try scene.fetch {
                $0.sortDescriptors = [order]; $0.fetchLimit = 20
            }
        }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT * FROM ZNOTE ORDER BY ZTITLE COLLATE NOCASE LIMIT 20") }
    },
    Operation("matches", "objects whose title matches an expression", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        _ = try meter.measure { try scene.fetch("title MATCHES %@", ["Note [1-3]7"]) }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT * FROM ZNOTE WHERE ZTITLE GLOB 'Note [1-3]7'") }
    },
    Operation("contains", "objects whose title contains a text", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        _ = try meter.measure { try scene.fetch("title CONTAINS[cd] %@", ["e 37"]) }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT * FROM ZNOTE WHERE ZTITLE LIKE '%e 37%'") }
    },
    Operation("in-list", "objects whose number is one of n", sizes: [100, 1000, 10_000]) { count, meter in
        let scene = try Scene()
        try scene.fill(100_000)
        let numbers = (0..<count).map { $0 * 3 }
        _ = try meter.measure { try scene.fetch("number IN %@", [numbers]) }
        let raw = scene.raw()
        let list = numbers.map(String.init).joined(separator: ",")
        meter.measureRaw { raw.run("SELECT * FROM ZNOTE WHERE ZNUMBER IN (\(list))") }
    },
    Operation("existing-object", "n objects by ID, one by one") { count, meter in
        let scene = try Scene()
        let ids = try scene.notes(count).map(\.objectID)
        scene.context.reset()
        try meter.measure { for id in ids { _ = try scene.context.existingObject(with: id).value(forKey: "title") } }
        let raw = scene.raw()
        meter.measureRaw { for key in 1...count { raw.run("SELECT * FROM ZNOTE WHERE Z_PK = ?", key) } }
    },
    Operation("external", "objects with files of 200 KB that nobody reads", sizes: [50, 200, 800]) { count, meter in
        let scene = try Scene()
        for note in try scene.notes(count) { note.setValue(Data(count: 200_000), forKey: "attachment") }
        try scene.context.save()
        scene.context.reset()
        try meter.measure { for note in try scene.fetch() { _ = note.value(forKey: "title") } }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT * FROM ZNOTE") }
    },
    Operation("asynchronous", "an asynchronous fetch of all", sizes: medium) { count, meter in
        let scene = try Scene()
        try scene.fill(count)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = scene.coordinator
        let done = DispatchSemaphore(value: 0)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        try meter.measure {
            try context.performAndWait {
                _ = try context.execute(NSAsynchronousFetchRequest(fetchRequest: request) { _ in done.signal() })
            }
            done.wait()
        }
        let raw = scene.raw()
        meter.measureRaw { raw.run("SELECT * FROM ZNOTE") }
    },
    Operation("sort-descriptors", "an array sorted by two descriptors", sizes: medium) { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        let descriptors = [
            NSSortDescriptor(key: "title", ascending: true), NSSortDescriptor(key: "number", ascending: false),
        ]
        _ = meter.measure { NSArray(array: notes).sortedArray(using: descriptors) }
        _ = meter.measureRaw {
            notes.sorted { one, other in
                let (first, second) = (one.value(forKey: "title") as! String, other.value(forKey: "title") as! String)
                if first != second { return first < second }
                return (one.value(forKey: "number") as! Int) > (other.value(forKey: "number") as! Int)
            }
        }
    },
    Operation("filter-array", "an array filtered by a predicate", sizes: medium) { count, meter in
        let scene = try Scene()
        let notes = try scene.notes(count)
        let predicate = NSPredicate(format: "number > 10 AND title BEGINSWITH 'Note 1'")
        _ = meter.measure { NSArray(array: notes).filtered(using: predicate) }
        _ = meter.measureRaw {
            notes.filter { note in
                (note.value(forKey: "number") as! Int) > 10
                    && (note.value(forKey: "title") as! String).hasPrefix("Note 1")
            }
        }
    },
]

private func firstTwenty(_ scene: Scene, _ count: Int, _ meter: Meter) throws {
    try meter.measure {
        for _ in 0..<20 {
            try scene.fetch("number >= %@", [count / 2]) {
                $0.sortDescriptors = byNumber; $0.fetchLimit = 20
            }
        }
    }
    let raw = scene.raw()
    meter.measureRaw {
        for _ in 0..<20 { raw.run("SELECT * FROM ZNOTE WHERE ZNUMBER >= ? ORDER BY ZNUMBER LIMIT 20", count / 2) }
    }
}
