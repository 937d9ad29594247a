#if PostgreSQL
    import Foundation
    import Testing

    import class ManagedObjects.NSSortDescriptor

    @testable import ManagedObjects

    /// Prints how long the same work takes in a file and on a server, if an environment variable asks for it. The numbers of
    /// statements are checked by `PostgreSQLStoreTests`.
    @Suite(
        .serialized,
        .enabled(
            if: TestStores.server != nil && ProcessInfo.processInfo.environment["CORAL_MEASURE"] != nil,
            "CORAL_MEASURE is not set."))
    struct PostgreSQLSpeedTests {
        @Test func `the same work in a file and on a server`() throws {
            let folder = try StoreFolder()
            var times: [[Double]] = []
            for type in TestStores.sqlTypes {
                let url = type == NSSQLiteStoreType ? folder.url : TestStores.url(type)
                let stack = try TestStack(type: type, url: url, options: [NSPersistentHistoryTrackingKey: true])
                func measured(_ work: () throws -> Void) rethrows -> Double {
                    let start = ContinuousClock.now
                    try work()
                    let duration = start.duration(to: .now).components
                    return Double(duration.seconds) + Double(duration.attoseconds) * 1e-18
                }
                let context = stack.context()
                for start in stride(from: 0, to: 100_000, by: 10_000) {
                    for number in start..<(start + 10_000) {
                        _ = context.insert(
                            "Note",
                            [
                                "title": "Title \(number)", "count": number, "rank": Double(number) / 7,
                                "identifier": UUID(), "createdAt": Date(timeIntervalSinceReferenceDate: Double(number)),
                            ])
                    }
                    try context.save()
                }
                context.reset()
                _ = try stack.context().all("Note")
                let fetching = try measured { _ = try stack.context().all("Note") }
                let changing = stack.context()
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
                request.fetchLimit = 1000
                let notes = try changing.fetch(request)
                for note in notes { note.setValue("Changed", forKey: "title") }
                try changing.save()
                for note in notes { note.setValue("Changed again", forKey: "title") }
                let saving = try measured { try changing.save() }
                times.append([fetching, saving])
            }
            for (index, name) in ["fetch of 100,000", "save of 1,000 changed"].enumerated() {
                print(
                    "\(name): SQLite \(times[0][index]) s, PostgreSQL \(times[1][index]) s, ratio \(times[1][index] / times[0][index])"
                )
            }
        }
    }
#endif
