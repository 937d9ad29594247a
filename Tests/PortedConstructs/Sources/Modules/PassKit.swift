import PassKit
