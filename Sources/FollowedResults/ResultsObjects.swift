import ManagedObjects

/// The objects of a list of results. Lists that follow each other share the chunks in which nothing has changed, so that a change
/// copies a chunk and the list of chunks, not all objects.
struct ResultsObjects: RandomAccessCollection {
    fileprivate typealias Chunk = ContiguousArray<NSManagedObject>

    /// The number of objects in a chunk of a new list. Other chunks have at least a quarter and at most twice as many, except for
    /// the last one.
    static let chunkSize = 512

    fileprivate private(set) var chunks: [Chunk]
    /// The position of the first object of each chunk.
    private var starts: [Int] = []
    let endIndex: Int

    init(_ objects: some Sequence<NSManagedObject>) {
        var builder = ResultsObjectsBuilder()
        for object in objects { builder.append(object) }
        self = builder.objects
    }

    fileprivate init(chunks: [Chunk]) {
        self.chunks = chunks
        var start = 0
        starts.reserveCapacity(chunks.count)
        for chunk in chunks {
            starts.append(start)
            start += chunk.count
        }
        endIndex = start
    }

    var startIndex: Int { 0 }

    subscript(position: Int) -> NSManagedObject {
        let index = chunkIndex(of: position)
        return chunks[index][position - starts[index]]
    }

    func makeIterator() -> FlattenSequence<[ContiguousArray<NSManagedObject>]>.Iterator {
        chunks.joined().makeIterator()
    }

    var chunkCount: Int { chunks.count }

    /// The number of chunks that are also chunks of another list.
    func sharedChunkCount(with other: ResultsObjects) -> Int {
        let known = Set(other.chunks.map { $0.withUnsafeBytes { $0.baseAddress } })
        return chunks.count { known.contains($0.withUnsafeBytes { $0.baseAddress }) }
    }

    private func chunkIndex(of position: Int) -> Int {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] > position { high = middle } else { low = middle + 1 }
        }
        return low - 1
    }

    /// Calls a function for each part of a range that is in one chunk.
    fileprivate func forEachPart(of range: Range<Int>, _ body: (Chunk, Range<Int>) -> Void) {
        guard !range.isEmpty else { return }
        var index = chunkIndex(of: range.lowerBound)
        var position = range.lowerBound
        while position < range.upperBound {
            let start = starts[index]
            let end = Swift.min(start + chunks[index].count, range.upperBound)
            body(chunks[index], (position - start)..<(end - start))
            position = end
            index += 1
        }
    }

    // MARK: - Positions

    /// The position of an object; nil if it is not in the list.
    func position(of object: NSManagedObject) -> Int? {
        let address = UInt(bitPattern: ObjectIdentifier(object))
        for (index, chunk) in chunks.enumerated() {
            // Read as addresses, so that no reference is counted and no object is loaded.
            let found = chunk.withUnsafeBytes { bytes -> Int? in
                guard Self.contains(address, bytes) else { return nil }
                var offset = 0
                while Self.address(offset, bytes) != address { offset += 1 }
                return offset
            }
            if let found { return starts[index] + found }
        }
        return nil
    }

    /// The positions of the objects that are in a set, ascending. Cost: linear in the length of the list, a fraction of a nanosecond for
    /// each object if few are sought.
    func positions(of sought: Set<ObjectIdentifier>) -> [Int] {
        let sought = Set(sought.map { UInt(bitPattern: $0) })
        let few = sought.count <= Self.fewAddresses ? Array(sought) : []
        // Usually few objects change: a mask of some bits of their addresses avoids most of the look-ups.
        func bit(of address: UInt) -> UInt64 { 1 << (UInt64(address >> 4) & 63) }
        var mask: UInt64 = 0
        for address in sought { mask |= bit(of: address) }
        var positions: [Int] = []
        for (index, chunk) in chunks.enumerated() {
            chunk.withUnsafeBytes { bytes in
                if !few.isEmpty {
                    var isThere = false
                    for address in few where Self.contains(address, bytes) { isThere = true }
                    if !isThere { return }
                }
                for offset in 0..<chunk.count {
                    let address = Self.address(offset, bytes)
                    if mask & bit(of: address) != 0, sought.contains(address) {
                        positions.append(starts[index] + offset)
                    }
                }
            }
        }
        return positions
    }

    private static let fewAddresses = 4

    private static func address(_ offset: Int, _ bytes: UnsafeRawBufferPointer) -> UInt {
        bytes.load(fromByteOffset: offset * MemoryLayout<UInt>.stride, as: UInt.self)
    }

    /// Whether an address is among those of a chunk. Without an early end, so that several are compared at once.
    private static func contains(_ sought: UInt, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var hits = 0
        for offset in 0..<(bytes.count / MemoryLayout<UInt>.stride) {
            hits &+= address(offset, bytes) == sought ? 1 : 0
        }
        return hits > 0
    }
}

/// Makes a list from objects and from ranges of another list.
struct ResultsObjectsBuilder {
    private var chunks: [ResultsObjects.Chunk] = []
    /// The objects that are not in a chunk yet.
    private var tail: ResultsObjects.Chunk = []

    var objects: ResultsObjects { ResultsObjects(chunks: tail.isEmpty ? chunks : chunks + [tail]) }

    mutating func append(_ object: NSManagedObject) {
        tail.append(object)
        cutTail()
    }

    mutating func append(_ range: Range<Int>, of other: ResultsObjects) {
        other.forEachPart(of: range) { chunk, part in
            if part.count == chunk.count, Self.isLarge(chunk), tail.isEmpty || Self.isLarge(tail) {
                if !tail.isEmpty { chunks.append(tail) }
                tail = []
                chunks.append(chunk)
            } else {
                tail.append(contentsOf: chunk[part])
                cutTail()
            }
        }
    }

    /// Whether a chunk need not be joined with its neighbour.
    private static func isLarge(_ chunk: ResultsObjects.Chunk) -> Bool { chunk.count >= ResultsObjects.chunkSize / 4 }

    private mutating func cutTail() {
        guard tail.count >= 2 * ResultsObjects.chunkSize else { return }
        chunks.append(ResultsObjects.Chunk(tail.prefix(ResultsObjects.chunkSize)))
        tail.removeFirst(ResultsObjects.chunkSize)
    }
}
