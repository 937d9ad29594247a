/// The keys of all open objects, for the detection of duplicate keys.
///
/// Only hashes are kept. Two keys with the same 64-bit hash are treated as duplicates; such a collision practically
/// occurs only in a document constructed for it.
struct JSONKeySet {
    private var hashes: [UInt64] = []
    /// The hashes of objects with so many keys that a linear search would be too slow, and the index in `hashes` where
    /// that object's keys begin.
    private var large: [(start: Int, hashes: Set<UInt64>)] = []

    private static let largestSearched = 24

    /// The number of keys of all open objects.
    var count: Int { hashes.count }

    /// Adds a key to the object whose keys begin at `start`; false for a duplicate.
    mutating func insert(_ key: UnsafeRawBufferPointer, from start: Int) -> Bool {
        let hash = JSONKeySet.hash(key)
        if hashes.count - start < JSONKeySet.largestSearched {
            let isNew = hashes.withUnsafeBufferPointer { hashes in
                for index in start..<hashes.count where hashes[index] == hash { return false }
                return true
            }
            if isNew { hashes.append(hash) }
            return isNew
        }
        if large.last?.start != start { large.append((start, Set(hashes[start...]))) }
        guard large[large.count - 1].hashes.insert(hash).inserted else { return false }
        hashes.append(hash)
        return true
    }

    /// Removes the innermost object's keys.
    mutating func removeAll(from start: Int) {
        if large.last?.start == start { large.removeLast() }
        hashes.removeLast(hashes.count - start)
    }

    private static func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
        let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
        var hash = UInt64(truncatingIfNeeded: key.count) &* factor
        var index = 0
        while index + 8 <= key.count {
            hash = mix(hash ^ key.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        var rest: UInt64 = 0
        while index < key.count {
            rest = rest << 8 | UInt64(key[index])
            index += 1
        }
        return mix(hash ^ rest)
    }

    @inline(__always)
    private static func mix(_ value: UInt64) -> UInt64 {
        let (high, low) = (value ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)
        return (high ^ low) &+ value.byteSwapped &* 0x9E37_79B9_7F4A_7C15
    }
}

/// Prepared names, predicted from the preceding name.
///
/// Records of one entity have their members in the same order: the name that followed last time is compared first, and
/// another name is looked up.
struct JSONKeyCache {
    private var names: [String] = []
    private var keys: [JSONWriter.Key] = []
    private var successors: [Int] = []
    private var positions: [String: Int] = [:]
    private var previous = 0

    /// The prepared form of a name.
    mutating func key(_ name: String) throws -> JSONWriter.Key {
        if previous < successors.count {
            let guess = successors[previous]
            if guess < names.count, names[guess] == name {
                previous = guess
                return keys[guess]
            }
        }
        let position: Int
        if let known = positions[name] {
            position = known
        } else {
            position = names.count
            keys.append(try JSONWriter.Key(name))
            names.append(name)
            successors.append(0)
            positions[name] = position
        }
        if previous < successors.count { successors[previous] = position }
        previous = position
        return keys[position]
    }
}
