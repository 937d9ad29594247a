import CoreDataErrors
import Foundation
import GRDB
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// A save that the file rejects: another connection has locked it, or the disk is full. The error contains the reason,
/// nothing is written and nothing is lost, and a later save writes everything.
@Suite("Saves that the file refuses") struct RefusedSaveTests {
    private let folder: StoreFolder
    private let stack: TestStack
    private let context: NSManagedObjectContext

    init() throws {
        folder = try StoreFolder()
        stack = try TestStack(
            url: folder.url,
            options: [NSPersistentStoreTimeoutOption: 0.1, NSSQLitePragmasOption: ["max_page_count": 120]])
        context = stack.context()
        for number in 0..<3 {
            let note = context.insert("Note", ["count": number, "title": "old"])
            note.setValue(NSOrderedSet(object: context.insert("Item", ["index": number])), forKey: "items")
        }
        try context.save()
    }

    /// Inserts, changes and deletes; returns the expected state of the store.
    private func change() throws -> GraphMirror {
        try context.numbered("Note", 0).setValue("new", forKey: "title")
        context.delete(try context.numbered("Note", 1))
        let items = try context.numbered("Note", 2).mutableOrderedSetValue(forKey: "items")
        items.add(context.insert("Item", ["index": 7, "name": "seven"]))
        context.processPendingChanges()
        return try GraphMirror(context)
    }

    /// The error code of a failing save. Nothing else may happen.
    private func refusal() throws -> Int? {
        let before = try GraphMirror(context)
        let stored = try GraphMirror(stack.context())
        let counts = [context.insertedObjects.count, context.updatedObjects.count, context.deletedObjects.count]
        let saves = SavesOf(context)
        let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(saves.notifications.isEmpty)
        #expect(context.brokenInvariants() == [])
        #expect(
            counts == [context.insertedObjects.count, context.updatedObjects.count, context.deletedObjects.count])
        #expect(try GraphMirror(context) == before)
        #expect(try GraphMirror(stack.context()) == stored)
        return error?.code
    }

    @Test func `a file that another connection writes to is waited for, and then tried again`() throws {
        let wanted = try change()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.url.path, configuration: configuration)
        try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        for _ in 0..<2 { #expect(try refusal() == NSPersistentStoreTimeoutError) }
        try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try context.save()
        #expect(!context.hasChanges)
        #expect(try GraphMirror(stack.context()) == wanted)
    }

    @Test func `changes that do not fit on the disk stay unsaved`() throws {
        let wanted = try change()
        let note = try context.numbered("Note", 0)
        note.setValue(Data(count: 1_000_000), forKey: "blob")
        for _ in 0..<2 { #expect(try refusal() == CocoaError.fileWriteOutOfSpace.rawValue) }
        note.setValue(nil, forKey: "blob")
        try context.save()
        #expect(!context.hasChanges)
        #expect(try GraphMirror(stack.context()) == wanted)
    }
}
