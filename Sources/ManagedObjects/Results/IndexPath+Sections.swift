import Foundation

// Apple's interface frameworks add these members to IndexPath; Foundation does not have them.

extension IndexPath {
    /// The path of a row of a section, both from 0.
    public init(row: Int, section: Int) {
        self.init(indexes: [section, row])
    }

    /// The path of an item of a section, both from 0.
    public init(item: Int, section: Int) {
        self.init(indexes: [section, item])
    }

    /// The section: the first index. The path must have two indexes.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The row in the section: the second index, the same as ``item``. The path must have two indexes.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The item in the section: the second index, the same as ``row``. The path must have two indexes.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
