import CryptoKit
