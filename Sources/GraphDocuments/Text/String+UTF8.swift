import Foundation

extension String {
    /// Whether both have the same UTF-8: canonically equivalent strings may be equal without having it.
    ///
    /// Compares memory. `elementsEqual` of the two views takes 50 instructions for each byte.
    func hasSameUTF8(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard own.count == others.count else { return false }
                guard let first = own.baseAddress, let second = others.baseAddress else { return true }
                return memcmp(first, second, own.count) == 0
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
