import CoreData
import GraphDocuments

/// The IDs of objects, by the ids of their records, for documents with millions of records.
///
/// The text of an id takes more memory than the ID of its object, so a digest is kept instead.
struct RecordObjects {
    private var objects: [Digest: NSManagedObjectID] = [:]

    var isEmpty: Bool { objects.isEmpty }

    subscript(id: RecordID) -> NSManagedObjectID? {
        get { objects[Digest(id)] }
        set { objects[Digest(id)] = newValue }
    }

    /// 128 bits of a hash whose seed is random in each process: two ids of a document do not have the same, whatever they are.
    private struct Digest: Hashable {
        private let first: Int
        private let second: Int

        init(_ id: RecordID) {
            var text = id.text
            (first, second) = text.withUTF8 { (Digest.hash($0, 1), Digest.hash($0, 2)) }
        }

        private static func hash(_ text: UnsafeBufferPointer<UInt8>, _ variant: UInt8) -> Int {
            var hasher = Hasher()
            hasher.combine(variant)
            hasher.combine(bytes: UnsafeRawBufferPointer(text))
            return hasher.finalize()
        }

        func hash(into hasher: inout Hasher) { hasher.combine(first) }
    }
}
